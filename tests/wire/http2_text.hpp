// Rows over HTTP/2: a row's HTTP/1 text as the frames that say the same, and what a client got as
// the text that a row expects. Frames and header lists are written here by hand, so that a row may
// send what no library would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::wire {

// A client's side of one connection. A request becomes a stream: its line the pseudo-fields, its
// fields as they are in lower case, without what HTTP/2 says by its frames (Transfer-Encoding, and
// Connection where it only names TE); its body DATA. An authority in the target becomes :authority,
// else Host does, if there is one.
class Http2Writer {
  public:
    // What a client sends before it has got anything, and what it answers to SETTINGS.
    [[nodiscard]] static std::string opening();
    [[nodiscard]] static std::string acknowledgement();

    // The frames of the text, which goes on where the last one ended. Of a head that is cut off all
    // that is there is sent, without the flag that ends it.
    [[nodiscard]] std::string frames(std::string_view text);

  private:
    void write_head(std::string_view head, bool whole);
    void write_body();
    void write_data(std::string_view payload, bool last);

    enum class Body : std::uint8_t { none, length, chunks };
    std::string text_; // that was not written
    std::string out_;
    std::uint32_t id_ = 0xffff'ffff; // of the stream that was opened last
    Body body_ = Body::none;
    std::size_t left_ = 0; // of a body of a known length
};

// What a client has got on one connection, in the order of its streams, as canonical() writes it.
// A stream that was reset ends with "<cut>", or is "<reset>" if nothing came before; a GOAWAY with
// an error is "<goaway>", the connection's end "<end>". head: it has asked with HEAD.
[[nodiscard]] std::string read_http2(std::string_view bytes, bool head, bool ended);

// A text of a row as it is compared: names in lower case, status lines without reasons.
[[nodiscard]] std::string canonical(std::string_view text);
// The same for what a client is to get: without the fields that concern HTTP/1's connections.
[[nodiscard]] std::string canonical_response(std::string_view text);

} // namespace stint::wire
