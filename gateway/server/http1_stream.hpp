// One request of an HTTP/1 connection and its response (RFC 9112).
#pragma once

#include "base/error.hpp"
#include "http/body_decoder.hpp"
#include "http/head_error.hpp"
#include "server/client_stream.hpp"
#include "server/http1_output.hpp"
#include "server/piece_framing.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::server {

class Http1Connection;

// Lent to a connection for the time of a request, or of a batch of pipelined ones.
class Http1Stream final : public ClientStream {
  public:
    // --- for the connection ---
    // Lends the stream to a connection. Both arguments must outlive the request.
    void attach(Http1Connection& connection, const ConnectionInfo& info) noexcept {
        http1_ = &connection;
        connection_ = &info;
        batched_ = false;
    }
    // Frees the memory that a large request or response has needed.
    void release_large() noexcept { output_.release(); }
    // Begins the request whose head is the first head_size bytes received. Returns an error if its
    // head, or the part of its body received so far, is malformed.
    [[nodiscard]] std::optional<http::HeadError>
    begin(std::size_t head_size, const ConnectionSettings& settings);
    // Begins a request of which no head can be read.
    void begin_unreadable() noexcept;
    struct Result {
        bool keep = false;        // the connection may carry another request
        bool linger = false;      // the client may still be sending: close in two steps
        std::size_t consumed = 0; // bytes received that belong to this request
    };
    [[nodiscard]] Result end(const RequestEnd& end) noexcept;
    // Returns a request that was given back as it was received, and what came behind it. Nothing: a
    // part of its body was decoded, and is not known any more. body: see GivenBack.
    [[nodiscard]] std::optional<std::string> give_back(std::optional<std::string_view> body);
    // True if responses are held back to be sent as a batch.
    [[nodiscard]] bool has_batch() const noexcept { return batched_; }
    // Sends the batch of responses.
    [[nodiscard]] Sent flush_batch();

    // --- ClientStream ---
    [[nodiscard]] std::string_view read_ahead(net::Block& into) override;
    [[nodiscard]] Sent allow_body() override;
    void drop_buffered_body() noexcept override;
    [[nodiscard]] net::Task<BodyPiece> read_body(net::Block& into) override;
    [[nodiscard]] net::Task<> discard_body() override;
    [[nodiscard]] Sent send_interim(const ForwardedResponse& response) override;
    [[nodiscard]] Sent
    send_response(const ForwardedResponse& response, const ResponsePiece& piece) override;
    [[nodiscard]] Sent send_local(const http::Response& response, std::string_view date) override;
    [[nodiscard]] Sent send_body(const ResponsePiece& piece) override;
    [[nodiscard]] bool has_unsent() const noexcept override { return !output_.empty(); }
    [[nodiscard]] net::Task<Sent> flush() override;
    void close_after() noexcept override { client_keeps_ = false; }
    void cancel() noexcept override;
    void watch() noexcept override;
    void watch_unread() noexcept override;
    void poll_peer_close() override;
    void resume(Step next) override;
    [[nodiscard]] net::Stream* raw_body() noexcept override;
    [[nodiscard]] net::Task<std::unique_ptr<net::ByteEnd>>
    take_over(std::span<const char>& early) override;
    void watch_for_reset(bool on) noexcept override;

  private:
    // Most bytes of a request's body that are read and dropped after a response that did not need
    // them, so that the connection can be kept alive.
    static constexpr std::uint64_t most_discarded = 64 * 1024;

    void clear() noexcept;
    [[nodiscard]] stint::Result<http::BodyDecoder::Step, http::HeadError>
    decode_body(std::span<char> bytes) noexcept;

    Http1Connection* http1_ = nullptr;
    std::vector<Field> fields_; // room for as many as a head may have
    std::size_t head_size_ = 0;
    std::size_t consumed_ = 0; // bytes received that belong to this request
    http::BodyDecoder decoder_{{}};
    std::uint64_t body_left_ = 0; // bytes to come, if the body's length is known
    PieceFraming framing_;
    Http1Output output_;
    bool client_keeps_ = false;
    bool body_begun_ = false; // the body has been read beyond what came with the head
    bool batched_ = false;
};

} // namespace stint::server
