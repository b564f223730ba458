// What routing decides on: a host and a path spelt in one way only.
#pragma once

#include "base/error.hpp"
#include "http/head_error.hpp"

#include <string>
#include <string_view>

namespace stint::http {

// Host for routing: lower case, without port and trailing dot; brackets of an IPv6 literal kept.
// Returns a view of `authority` when it is already so spelt, else of `scratch`.
[[nodiscard]] std::string_view normalise_host(std::string_view authority, std::string& scratch);

// Path for routing: percent-encoded unreserved characters decoded, remaining escapes in upper case,
// dot segments removed (RFC 3986 section 5.2.4), runs of "/" merged. "%2F" stays as it is: data.
// Refuses "%00", malformed escapes and a path that climbs above its root. Returns a view of `path`
// when it is already so spelt (the usual case: one scan, no copy), else of `scratch`.
[[nodiscard]] Result<std::string_view, HeadError>
normalise_path(std::string_view path, std::string& scratch);

} // namespace stint::http
