// What routing decides on: a host and a path spelt in one way only.
#pragma once

#include "base/error.hpp"
#include "base/path_rules.hpp"
#include "http/head_error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::http {

// Host for routing: lower case, without port and one trailing dot; an IPv6 literal in brackets as
// RFC 5952 spells it (base/ip_address.hpp). authority: valid_authority() (http/request_line.hpp).
// Returns a view of `authority` when it is already so spelt, or no authority, else of `scratch`.
[[nodiscard]] std::string_view normalise_host(std::string_view authority, std::string& scratch);

struct NormalPath {
    std::string_view text; // of the given path when it is already so spelt, else of the scratch
    // A server may read the given spelling as another resource (dot segments, an authority behind a
    // leading "//"): `text` is to be forwarded in its place.
    bool forward = false;
    // It has "%2F" or ";", which servers read in several ways: ask read_path() as well.
    bool ambiguous = false;
};

// Path for routing: percent-encoded unreserved characters decoded, remaining escapes in upper case,
// dot segments removed (RFC 3986 section 5.2.4), runs of "/" merged if the rules say so. "%2F"
// stays as it is: data. Refuses "%00", "%5C", malformed escapes and a path that climbs above its
// root. The usual path costs one scan and no copy.
[[nodiscard]] Result<NormalPath, HeadError>
normalise_path(std::string_view path, const PathRules& rules, std::string& scratch);

// How a server may read a path beside the way in which it is normalised: with "%2F" decoded; with
// each segment cut at its first ";", as servlet containers do; with both.
enum class PathReading : std::uint8_t { decoded_slashes, cut_parameters, both };
inline constexpr std::array path_readings{
    PathReading::decoded_slashes, PathReading::cut_parameters, PathReading::both};

// What such a server would take the path for, normalised after that. path: one that
// normalise_path() took. Refuses what climbs above the root then.
[[nodiscard]] Result<std::string, HeadError>
read_path(std::string_view path, const PathRules& rules, PathReading reading);

} // namespace stint::http
