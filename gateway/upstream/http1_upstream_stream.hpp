// One request and its response on an HTTP/1.1 connection to an upstream (RFC 9112).
#pragma once

#include "base/object_pool.hpp"
#include "http/body_decoder.hpp"
#include "http/head_buffer.hpp"
#include "http/head_parser.hpp"
#include "net/handler_memory.hpp"
#include "upstream/http1_request_writer.hpp"
#include "upstream/pool.hpp"
#include "upstream/upstream_stream.hpp"

#include <array>
#include <memory>
#include <string>

namespace stint::upstream {

class Http1UpstreamStream;

// Memory that one worker's HTTP/1.1 streams share. Not thread-safe; must outlive the streams.
struct Http1Buffers {
    net::BufferPool& blocks;  // for reading responses
    http::HeadBuffer& head;   // scratch: a request's head
    http::HeadParser& parser; // parses responses
    ObjectPool<Http1UpstreamStream> streams{};
};

class Http1UpstreamStream final : public UpstreamStream {
  public:
    Http1UpstreamStream(Http1Buffers& buffers, Lease lease) noexcept
        : UpstreamStream{lease.reused()}, buffers_{buffers}, lease_{std::move(lease)},
          input_{reused_ ? net::Input::none_yet : net::Input::unknown} {}

    [[nodiscard]] net::Task<Connected> connect(std::string_view first) override;
    void abort() noexcept override { lease_.abort(); }
    void keep(SteadyTime now) noexcept override;

    [[nodiscard]] ErrorCode
    send_request(const ForwardedRequest& request, const RequestPiece& piece) override;
    [[nodiscard]] ErrorCode send_body(const RequestPiece& piece) override;
    [[nodiscard]] bool has_unsent() const noexcept override { return writer_.has_unsent(); }
    [[nodiscard]] net::Task<ErrorCode> flush() override;
    [[nodiscard]] bool request_begun() const noexcept override { return writer_.begun(); }
    [[nodiscard]] bool request_done() const noexcept override { return writer_.done(); }

    void receive_then(ResponseHandler& handler) override;
    [[nodiscard]] net::Task<ErrorCode> receive() override;
    [[nodiscard]] Head next_head() override;
    [[nodiscard]] const ResponseHead& head() const noexcept override { return head_; }
    [[nodiscard]] bool response_begun() const noexcept override {
        return filled_ > 0 || head_size_ > 0 || interims_;
    }
    [[nodiscard]] std::string fault() const override;

    [[nodiscard]] bool expects_trailers() const noexcept override { return trailers_ != nullptr; }
    [[nodiscard]] BodyRead first_piece() override;
    [[nodiscard]] net::Task<BodyRead> read_body() override;
    [[nodiscard]] bool response_done() const noexcept override { return body_.done(); }

    [[nodiscard]] net::Stream* raw_body() noexcept override;
    [[nodiscard]] std::uint64_t raw_left() const noexcept override { return body_.unframed(); }
    void pass_raw(std::uint64_t bytes) noexcept override;
    [[nodiscard]] bool end_raw() noexcept override { return body_.end_of_stream(); }
    [[nodiscard]] net::Stream& take_over(net::Block& early, std::size_t& size) override;

  private:
    // Trailer fields of a response that are to be forwarded.
    struct Trailers {
        std::array<char, http::BodyDecoder::max_trailer_bytes> place;
        std::string nominated; // options of the response's Connection fields
    };

    void destroy() noexcept override {
        ObjectPool<Http1UpstreamStream>::Return{&buffers_.streams}(this);
    }
    std::span<char> room();
    void take_in(std::size_t size) noexcept { filled_ += size; }
    void drop_head() noexcept;
    Head refuse(std::string_view what);
    BodyRead decode(std::span<char> data);

    Http1Buffers& buffers_;
    Lease lease_;
    net::Input input_; // state of the unread input, valid until the event loop's next turn

    std::string_view method_; // method of the request
    bool keeps_trailers_ = false;
    Http1RequestWriter writer_;

    // The response.
    std::size_t max_head_ = 0;
    net::HandlerMemory read_memory_;
    net::Block block_;
    std::size_t filled_ = 0; // bytes received in block_; has no meaning once the body is read
    std::size_t scanned_ = 0;
    std::size_t head_size_ = 0; // bytes of head_ at the start of block_; 0 if there is no head
    bool interims_ = false;     // an interim response has come
    ResponseHead head_;
    std::string fault_;
    http::BodyDecoder body_{{}};
    bool keep_alive_ = false; // the connection may be reused; false after any surplus byte
    std::unique_ptr<Trailers> trailers_;
};

// The streams of one worker to one endpoint that speaks HTTP/1.1.
class Http1StreamSource final : public StreamSource {
  public:
    Http1StreamSource(std::shared_ptr<Pool> pool, Http1Buffers& buffers) noexcept
        : pool_{std::move(pool)}, buffers_{buffers} {}

    [[nodiscard]] UpstreamStreamPtr take_idle() override;
    [[nodiscard]] UpstreamStreamPtr make_new(const net::Executor& executor) override;
    [[nodiscard]] const std::string& endpoint() const noexcept override {
        return pool_->endpoint();
    }

  private:
    const std::shared_ptr<Pool> pool_;
    Http1Buffers& buffers_;
};

} // namespace stint::upstream
