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

// What servers may do to a path before they look at its segments, beside what normalising does. A
// set: one server may do several.
enum class PathReading : std::uint8_t {
    plain = 0,
    decoded_slashes = 1, // "%2F" is "/"
    cut_parameters = 2,  // each segment ends at its first ";", or "%3B", after all decoding
    decoded_marks = 4,   // escapes of path_marks (base/path_rules.hpp) are what they stand for
    cut_first = 8        // each segment ends at its first ";" before anything is decoded
};
[[nodiscard]] constexpr PathReading operator|(PathReading a, PathReading b) noexcept {
    return static_cast<PathReading>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
// Whether all of `part` is in `set`.
[[nodiscard]] constexpr bool has(PathReading set, PathReading part) noexcept {
    return (set | part) == set;
}
// All but the plain one, each behind its parts.
inline constexpr std::array path_readings = [] {
    std::array<PathReading, 15> all{};
    for (unsigned i = 0; i < all.size(); ++i)
        all[i] = static_cast<PathReading>(i + 1);
    return all;
}();

struct NormalPath {
    std::string_view text; // of the given path when it is already so spelt, else of the scratch
    // A server may read the given spelling as another resource (dot segments, an authority behind a
    // leading "//"): `text` is to be forwarded in its place.
    bool forward = false;
    // What makes a difference to it: ask read_path() for every part of this as well.
    PathReading ambiguous = PathReading::plain;
};

// Path for routing: percent-encoded unreserved characters decoded, what may not stand in a path
// (such as "|") escaped, escapes in upper case, dot segments removed (RFC 3986 section 5.2.4), runs
// of "/" merged if the rules say so. Escapes of reserved characters stay as they are: data. Refuses
// "%00", "%5C", malformed escapes and a path that climbs above its root. The usual path costs one
// scan and no copy.
[[nodiscard]] Result<NormalPath, HeadError>
normalise_path(std::string_view path, const PathRules& rules, std::string& scratch);

// What a server that reads it so would take the path for, normalised after that. path: one that
// normalise_path() took. Refuses what climbs above the root then.
[[nodiscard]] Result<std::string, HeadError>
read_path(std::string_view path, const PathRules& rules, PathReading reading);

} // namespace stint::http
