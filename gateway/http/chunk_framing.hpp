// Chunked framing of a body that is sent piece by piece (RFC 9112 section 7.1).
#pragma once

#include "http/rewrite.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stint::http {

// One per body. Pieces is a type with add(std::string_view), such as net::Gather. The added bytes
// are views of this object and of the caller's payload; they are valid until the next call of the
// same function.
class ChunkFraming {
  public:
    // Adds the payload as one chunk; nothing if it is empty, as an empty chunk would end the body.
    template <class Pieces>
    void add_chunk(Pieces& to, std::string_view payload) {
        if (payload.empty())
            return;
        to.add(header_.emplace(payload.size()).view());
        to.add(payload);
        to.add(chunk_end);
    }
    // Adds the end of the body, with those trailer fields that may be forwarded: trailer and
    // nominated are those of append_trailer_fields(). An empty trailer means that there are no
    // trailer fields.
    template <class Pieces>
    void add_end(Pieces& to, std::string_view trailer, std::string_view nominated) {
        to.add(trailer.empty() ? last_chunk : end_with(trailer, nominated));
    }

  private:
    [[nodiscard]] std::string_view end_with(std::string_view trailer, std::string_view nominated);

    std::optional<ChunkHeader> header_;
    std::string end_;
};

} // namespace stint::http
