// Turns the decoded fields of an HTTP/2 request into a RequestHead (RFC 9113 section 8.3), by the
// rules that HTTP/1's heads obey.
#pragma once

#include "base/head_bounds.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::http {

// Collects the fields of one request in one run of bytes, written as HTTP/1 would write them. What
// is wrong with them is remembered: finish() reports it. Reused: allocates nothing after warm-up.
// Not thread-safe.
class Http2Request {
  public:
    // The size of the list so far, and whether it is still worth decoding.
    enum class Size : std::uint8_t {
        within,
        exceeded, // more than max_head or max_fields: no later field is kept
        absurd    // at least four times either bound
    };

    // Forgets the fields, for the next request. bounds: of the head as it is decoded; max_head
    // counts names and values, and 32 bytes for each field, max_fields each crumb of a cookie by
    // itself.
    void begin(const HeadBounds& bounds) noexcept;
    // Takes one decoded field. Copies its bytes. Throws std::bad_alloc.
    [[nodiscard]] Size add(std::string_view name, std::string_view value);
    // Takes one decoded field of the trailer, which counts with the head, and is dropped. May be
    // called after finish().
    [[nodiscard]] Size count(std::string_view name, std::string_view value) noexcept;
    // Notes a field that the decoder has refused: the request is malformed.
    void add_malformed() noexcept { note({400, "A field's name or value is malformed."}); }
    // Ends the head. ends_stream: no body follows. Fills `into`, whose views are valid until the
    // next begin(); or returns the error. Call it once. websocket_key: the Sec-WebSocket-Key of a
    // request that asks for a tunnel. Throws std::bad_alloc.
    [[nodiscard]] std::optional<HeadError>
    finish(bool ends_stream, RequestHead& into, std::string_view websocket_key = {});

    // True if the request is an extended CONNECT (RFC 8441 section 4).
    [[nodiscard]] bool asks_for_tunnel() const noexcept { return protocol_.given; }

    // True if the method is HEAD, also of a request that finish() refuses.
    [[nodiscard]] bool is_head_request() const noexcept { return view(method_) == "HEAD"; }
    // Frees memory of more than `size` bytes. The fields are forgotten then.
    void shrink(std::size_t size) noexcept;

  private:
    // A range of text_.
    struct Range {
        std::uint32_t at = 0;
        std::uint32_t size = 0;
        bool given = false;
    };
    struct Entry {
        Range name;
        Range value;
    };

    [[nodiscard]] std::string_view view(const Range& range) const noexcept {
        return std::string_view{text_}.substr(range.at, range.size);
    }
    void note(const HeadError& error) noexcept;
    [[nodiscard]] Range put(std::string_view text);
    void add_line(std::string_view name, std::string_view value);
    void add_pseudo(std::string_view name, std::string_view value);
    [[nodiscard]] std::optional<HeadError> judge(bool ends_stream, RequestHead& into);
    void settle_authority();
    void write_upgrade(std::string_view websocket_key);

    HeadBounds bounds_;
    std::string text_;    // values of pseudo-fields, and lines "name: value" CRLF
    std::string cookies_; // the crumbs, joined
    std::vector<Entry> entries_;
    std::vector<Field> fields_;
    Range method_, scheme_, path_, authority_, protocol_;
    std::size_t given_ = 0; // entries that are the client's
    std::size_t count_ = 0; // as max_fields counts them, also those that were not kept
    std::size_t bytes_ = 0; // as max_head counts them
    std::optional<HeadError> error_;
};

} // namespace stint::http
