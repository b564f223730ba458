// The strict rules for a request line's method and target (RFC 9112 section 3).
#pragma once

#include "base/error.hpp"
#include "http/head_error.hpp"

#include <string_view>

namespace stint::http {

// A target taken apart; every view points into it.
struct TargetParts {
    std::string_view path;      // "/" where an absolute-form target has none, "*" for asterisk-form
    std::string_view query;     // without the "?"
    std::string_view authority; // of an absolute-form target, else empty
};

// Accepts origin-form, absolute-form (http and https, without user information) and, for OPTIONS,
// asterisk-form. Refuses CONNECT and TRACE (405) and every character that URIs do not have and
// that servers are known to read in different ways: controls, space, '"', '#', '<', '>', '\' and
// bytes from 0x7f on.
[[nodiscard]] Result<TargetParts, HeadError>
split_target(std::string_view method, std::string_view target) noexcept;

// host [":" port] as RFC 3986 section 3.2 spells it, without user information; empty is valid.
[[nodiscard]] bool valid_authority(std::string_view authority) noexcept;

} // namespace stint::http
