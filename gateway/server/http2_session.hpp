// The protocol of one HTTP/2 connection: frames, HPACK, flow control. The only code that uses
// nghttp2. Does no I/O.
#pragma once

#include "base/time.hpp"
#include "http/http2_fields.hpp"
#include "observe/http2_glitch.hpp"
#include "server/frame_progress.hpp"
#include "server/glitches.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

struct nghttp2_session;

namespace stint::server {

class Http2Stream;

// The gateway's SETTINGS (RFC 9113 section 6.5.2).
struct Http2SessionSettings {
    std::uint32_t max_streams = 0;   // open at once
    std::uint32_t stream_window = 0; // bytes of a body that may come unread
    std::uint32_t connection_window = 0;
    std::uint32_t max_header_list = 0; // bytes
    bool connect_protocol = false;     // extended CONNECT may be sent (RFC 8441)
};

// The reasons for which the gateway resets a stream or leaves (RFC 9113 section 7).
enum class Http2Error : std::uint32_t {
    none = 0,
    protocol = 1,
    internal = 2,
    settings_timeout = 4,
    refused_stream = 7,
    cancel = 8,
    enhance_your_calm = 11
};

// Called from within Http2Session::feed() and write(). None of these functions may call either.
// Each may throw: the session fails then.
class Http2Events {
  public:
    // A request begins. Returns its stream, or nullptr to refuse it.
    virtual Http2Stream* on_request_begun(std::int32_t id) = 0;
    // A field of the head, in turn; or one of the trailer, after on_head(). valid: false if it has
    // bytes that no field may have. Returns false if the rest is not worth decoding.
    virtual bool
    on_field(Http2Stream& stream, std::string_view name, std::string_view value, bool valid) = 0;
    // The head is complete. ends: no body follows.
    virtual void on_head(Http2Stream& stream, bool ends) = 0;
    virtual void on_data(Http2Stream& stream, std::span<const char> bytes) = 0;
    // The request is complete. Not called if on_head() has said so.
    virtual void on_request_end(Http2Stream& stream) = 0;
    // The stream is closed, and must not be named to the session again. cut: by a reset that names
    // an error.
    virtual void on_stream_closed(Http2Stream& stream, bool cut) = 0;
    virtual void on_glitch(observe::Http2Glitch kind) = 0;
    // The client has acknowledged the gateway's SETTINGS, or its PING.
    enum class Acknowledged : std::uint8_t { settings, ping };
    virtual void on_acknowledged(Acknowledged what) = 0;
    // Returns how many bytes of the response are at hand, at most `most`. Sets `last` if they end
    // the body, and `trailer` to the trailer's lines if one follows it.
    virtual std::size_t
    bytes_to_send(Http2Stream& stream, std::size_t most, bool& last, std::string_view& trailer) = 0;
    // Sends a frame's head, and so many bytes of the response behind it.
    enum class Took : std::uint8_t {
        all,
        nothing, // the connection takes nothing now; the call is repeated later
        never    // the stream was reset meanwhile
    };
    virtual Took send_data(Http2Stream& stream, std::string_view frame_head, std::size_t size) = 0;
    // The frame that ends the response was sent.
    virtual void on_response_end(Http2Stream& stream) = 0;

  protected:
    ~Http2Events() = default;
};

// Not thread-safe. After feed() or write() has failed, the session must only be destroyed.
class Http2Session {
  public:
    // events: must outlive the session. Throws std::bad_alloc.
    Http2Session(Http2Events& events, const Http2SessionSettings& settings);
    ~Http2Session();
    Http2Session(const Http2Session&) = delete;
    Http2Session& operator=(const Http2Session&) = delete;

    // Takes bytes that the client has sent, from the connection's first byte on. False: the
    // connection cannot go on; write() may still send a GOAWAY.
    [[nodiscard]] bool feed(std::span<const char> bytes) noexcept;
    // Returns the next frames to send, valid until the next call; empty: none now. DATA frames go
    // to Http2Events::send_data() instead, which comes before a result that is not empty.
    [[nodiscard]] std::string_view next_frames() noexcept;
    // True if feed() has failed because of more answers than the client reads, or of an endless
    // head.
    [[nodiscard]] bool flooded() const noexcept { return flooded_; }
    // True if the connection has nothing more to do: close it.
    [[nodiscard]] bool done() const noexcept;
    // Where frames end in what feed() was given.
    [[nodiscard]] const FrameProgress& frames() const noexcept { return frames_; }
    // True if too many bytes have come that were no requests, by `now`.
    [[nodiscard]] bool wastes(SteadyTime now) noexcept { return useless_.full(now); }

    // Submit what next_frames() will return. False if there is no memory.
    [[nodiscard]] bool submit_interim(std::int32_t id, const std::vector<http::Http2Field>& fields);
    // has_body: Http2Events::bytes_to_send() is asked for it.
    [[nodiscard]] bool
    submit_response(std::int32_t id, const std::vector<http::Http2Field>& fields, bool has_body);
    // There are bytes to send, after bytes_to_send() has returned 0.
    void resume(std::int32_t id) noexcept;
    void reset(std::int32_t id, Http2Error error) noexcept;
    // Bytes of a body have been taken out of the stream's buffer; or out of the connection's.
    void consume_stream(std::int32_t id, std::size_t bytes) noexcept;
    void consume_connection(std::size_t bytes) noexcept;
    // Says that no new stream should be opened, and then pings: the answer is on_acknowledged(),
    // and shows that the client knows.
    void announce_shutdown() noexcept;
    // From now on refuses new streams; those that were begun go on.
    void shut_down() noexcept;
    // Ends all streams.
    void terminate(Http2Error error) noexcept;

    // For the callbacks of nghttp2.
    struct Callbacks;

  private:
    struct Delete {
        void operator()(nghttp2_session* session) const noexcept;
    };

    Http2Events& events_;
    std::unique_ptr<nghttp2_session, Delete> session_;
    FrameProgress frames_;
    UselessBytes useless_;
    const std::uint32_t stream_window_;
    std::uint64_t requests_ = 0;
    std::uint64_t priorities_ = 0;
    std::uint64_t data_frames_sent_ = 0; // without tiny ones that the others do not explain
    std::uint64_t data_bytes_sent_ = 0;  // in these
    std::uint32_t tiny_explained_ = 0;   // tiny ones that may be sent and counted
    std::uint64_t window_updates_ = 0;
    std::uint64_t late_resets_ = 0;  // received for streams that had ended
    std::uint32_t own_refusals_ = 0; // submitted by reset(), and not sent so far
    std::uint32_t goaways_ = 0;      // received
    std::uint32_t settings_ = 0;     // SETTINGS received that were no acknowledgement
    bool tiny_ = false;              // the DATA frame under way is small because the window is
    bool flooded_ = false;
    bool in_head_ = false;        // CONTINUATION belongs to a head that was not refused
    bool head_unclaimed_ = false; // HEADERS have come, and no stream has taken them so far
};

} // namespace stint::server
