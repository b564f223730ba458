// Finds the end of a message body in a stream of bytes, and extracts its payload.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// One per body; does no I/O. Chunked framing is read strictly (RFC 9112 section 7.1): chunk sizes
// have at most 15 hexadecimal digits, lines end with CRLF. Extensions are skipped, at most 4 KiB of
// them in one body. Trailer fields are skipped or kept apart, at most max_trailer_bytes, and never
// merged into the head's fields.
class BodyDecoder {
  public:
    static constexpr std::size_t max_trailer_bytes = 8 * 1024;

    explicit BodyDecoder(BodyFraming framing) noexcept;

    // Makes the decoder store the trailer fields in `place`, which has room for max_trailer_bytes
    // and must outlive the body (until done()). Call this before the first decode().
    void keep_trailer(char* place) noexcept { trailer_ = place; }
    // Returns the stored trailer fields, once done(): well-formed lines without their LF, "Name:
    // value\r", as received; then "\r".
    [[nodiscard]] std::string_view trailer() const noexcept;

    struct Step {
        std::size_t payload = 0;  // bytes of payload, moved to the front of `data`
        std::size_t consumed = 0; // bytes of `data` that belong to this body
    };

    // Decodes the bytes that have arrived, in any pieces. Bytes after `consumed` belong to the next
    // message (only when done()). data may be empty.
    [[nodiscard]] Result<Step, HeadError> decode(std::span<char> data) noexcept;

    // True if the body's last byte has been consumed. Never true for Kind::until_close before
    // end_of_stream().
    [[nodiscard]] bool done() const noexcept;

    // Returns the number of next bytes that are payload only and need no decoding: the rest of a
    // body of known length; `unbounded` for a body delimited by close; 0 for a chunked or completed
    // body.
    static constexpr std::uint64_t unbounded = ~std::uint64_t{0};
    [[nodiscard]] std::uint64_t unframed() const noexcept;
    // Counts payload bytes (at most unframed()) that were forwarded without decode().
    void pass(std::uint64_t payload) noexcept;

    // Returns framing that brings another decoder, given it first, to the state of this one, so
    // that the bytes to come go on from there. payload: all that this one has decoded. Extensions
    // so far are left out. Only for a chunked body without a failure. Nothing: a part of a trailer
    // field was read. Throws std::bad_alloc.
    [[nodiscard]] std::optional<std::string> framed(std::string_view payload) const;

    // Notes that the peer has closed its side. Returns true if the body may end here: it is
    // complete, or delimited by close.
    [[nodiscard]] bool end_of_stream() noexcept;

  private:
    enum class State : std::uint8_t; // state of the chunked decoder

    [[nodiscard]] Result<Step, HeadError> decode_chunked(std::span<char> data) noexcept;
    void take_framing(char c) noexcept;
    [[nodiscard]] State take_size(char c) noexcept;
    [[nodiscard]] State take_extension_start(char c) noexcept;
    [[nodiscard]] State take_extension(char c) noexcept;
    [[nodiscard]] State take_trailer(char c) noexcept;

    char* trailer_ = nullptr;
    BodyFraming::Kind kind_;
    State state_;
    std::uint64_t remaining_ = 0; // bytes left of the body or chunk
    std::uint32_t skipped_ = 0;   // bytes of extensions, then of trailers, so far
    std::uint8_t digits_ = 0;     // digits of the chunk size so far
};

} // namespace stint::http
