// The host and path that routing decides on, normalised to one spelling.
#pragma once

#include "base/error.hpp"
#include "base/path_rules.hpp"
#include "http/head_error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::http {

// Returns the host for routing: lower case, without port and one trailing dot; an IPv6 literal in
// brackets as RFC 5952 spells it (base/ip_address.hpp). authority: valid_authority()
// (http/request_line.hpp). The view is of `authority` if that is already normal or no valid
// authority, else of `scratch`.
[[nodiscard]] std::string_view normalise_host(std::string_view authority, std::string& scratch);

// Ways in which servers rewrite a path before they split it into segments, in addition to
// normalisation. Forms a set: one server may use several.
enum class PathReading : std::uint8_t {
    plain = 0,
    decoded_slashes = 1, // "%2F" is "/"
    cut_parameters = 2,  // each segment ends at its first ";" or "%3B", after all decoding
    decoded_marks = 4,   // escapes of path_marks (base/path_rules.hpp) are decoded
    cut_first = 8        // each segment ends at its first ";" before anything is decoded
};
[[nodiscard]] constexpr PathReading operator|(PathReading a, PathReading b) noexcept {
    return static_cast<PathReading>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
// True if `set` contains all of `part`.
[[nodiscard]] constexpr bool has(PathReading set, PathReading part) noexcept {
    return (set | part) == set;
}
// All readings but the plain one. Each set comes after its subsets.
inline constexpr std::array path_readings = [] {
    std::array<PathReading, 15> all{};
    for (unsigned i = 0; i < all.size(); ++i)
        all[i] = static_cast<PathReading>(i + 1);
    return all;
}();

struct NormalPath {
    std::string_view text; // view of the given path if already normal, else of the scratch
    // True if a server may read the given spelling as another resource (dot segments, an authority
    // behind a leading "//"): `text` has to be forwarded instead.
    bool forward = false;
    // The readings that change the path. The caller must check the results of read_path() for every
    // subset of them, too.
    PathReading ambiguous = PathReading::plain;
};

// Normalises a path for routing: percent-encoded unreserved characters decoded, characters that may
// not stand in a path (such as "|") escaped, escapes in upper case, dot segments removed (RFC 3986
// section 5.2.4), runs of "/" merged if the rules say so. Escapes of reserved characters stay as
// they are: data. Refuses "%00", "%5C", malformed escapes and a path that climbs above its root.
// The usual path costs one scan and no copy.
[[nodiscard]] Result<NormalPath, HeadError>
normalise_path(std::string_view path, const PathRules& rules, std::string& scratch);

// Returns the path as a server with this reading sees it, normalised after that. path: a path that
// normalise_path() accepted. Refuses a path that then climbs above the root.
[[nodiscard]] Result<std::string, HeadError>
read_path(std::string_view path, const PathRules& rules, PathReading reading);

} // namespace stint::http
