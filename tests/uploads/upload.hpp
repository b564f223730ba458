// One upload: what its client sends, to the byte, known to both ends by its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::uploads {

// A body is a row of forged requests of this length, each with a number of its own. Heads are
// padded so that they take a multiple of it at the upstream; it divides 1448, what a segment
// carries with an MTU of 1500. So most cuts of a request, sent as if they were one, are one.
inline constexpr std::size_t unit = 181;

struct Upload {
    std::uint64_t id = 0;
    std::string_view method; // PUT or POST
    std::string_view route;  // what its path begins with
    unsigned scope = 0;      // which pauses concern it, where its route has any
    std::size_t size = 0;    // of its body
    bool chunked = false;
    std::size_t chunk = 0; // size of the client's chunks

    [[nodiscard]] bool idempotent() const noexcept { return method == "PUT"; }
};

[[nodiscard]] Upload make_upload(std::uint64_t seed, std::uint64_t id);

// "/plain/00000012"; what follows in the target is padding.
[[nodiscard]] std::string path_of(const Upload& upload);
[[nodiscard]] std::string number_of(std::uint64_t id);

// head_growth: by how much Stint's head is longer than this one.
[[nodiscard]] std::string head_of(const Upload& upload, std::size_t head_growth);
[[nodiscard]] std::string body_of(const Upload& upload);
// As it goes over the wire: chunked where it is.
[[nodiscard]] std::string framed_body(const Upload& upload, std::string_view body);

} // namespace stint::uploads
