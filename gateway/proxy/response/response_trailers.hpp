// Trailer fields of a response that go on to its client.
#pragma once

#include "base/message.hpp"
#include "http/body_decoder.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace stint::proxy {

// One per exchange; takes memory only where trailers are expected.
class ResponseTrailers {
  public:
    // Keeps the trailer here. Call before the first byte of the body, which is chunked, is decoded.
    void expect(const ResponseHead& head, http::BodyDecoder& body);
    [[nodiscard]] bool expected() const noexcept { return kept_ != nullptr; }

    // The options of the response's Connection fields. Requires: expected().
    [[nodiscard]] std::string_view nominated() const noexcept { return kept_->nominated; }

  private:
    struct Kept {
        std::array<char, http::BodyDecoder::max_trailer_bytes> place;
        std::string nominated; // by the response's Connection
    };
    std::unique_ptr<Kept> kept_;
};

} // namespace stint::proxy
