// The strict rules for a request line's method and target (RFC 9112 section 3).
#pragma once

#include "base/error.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <string_view>

namespace stint::http {

// The parts of a target. All views point into the target.
struct TargetParts {
    std::string_view path;      // "/" where an absolute-form target has none, "*" for asterisk-form
    std::string_view query;     // without the "?"
    std::string_view authority; // authority of an absolute-form target, else empty
};

// Splits a target. Accepts origin-form, absolute-form (http and https, without user information)
// and, for OPTIONS, asterisk-form. Refuses CONNECT (405) and characters that URIs may not have and
// that servers read in different ways: controls, space, '"', '#', '<', '>', '\' and bytes from 0x7f
// on.
[[nodiscard]] Result<TargetParts, HeadError>
split_target(std::string_view method, std::string_view target) noexcept;

// Checks host [":" port] without user information. Stricter than RFC 3986 section 3.2: a host is an
// IPv6 address in brackets, or labels of letters, digits, "-" and "_" between dots, none of them
// empty (one dot may end it); a port is empty or from 1 to 65535. An empty authority is valid.
[[nodiscard]] bool valid_authority(std::string_view authority) noexcept;

// True if the request line at the beginning of `data` has a target of more than max_target bytes
// (RFC 9112 section 3: 414). For an incomplete line: true if it is so long already that its target
// must be too long.
[[nodiscard]] bool target_too_long(std::string_view data, std::size_t max_target) noexcept;

} // namespace stint::http
