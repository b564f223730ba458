// Sends a request's body to the upstream, while the exchange waits for the response.
#pragma once

#include "base/time.hpp"
#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/types.hpp"
#include "proxy/forward/sending_rate.hpp"
#include "proxy/request.hpp"
#include "server/client_stream.hpp"
#include "upstream/upstream_stream.hpp"

#include <string>
#include <string_view>

namespace stint::proxy {

// One for each request. Aborts the request if its body cannot be read (the client has gone, or the
// body is malformed or too long) and, until a response has begun, if the client or the upstream is
// too slow. An error of the upstream's connection only ends the pump. The owner awaits join()
// before it destroys the pump or the request.
class BodyPump : private net::Deadline {
  public:
    explicit BodyPump(Request& request) noexcept : request_{request} {}

    // --- the bytes that go out with the head ---
    // Reads the bytes of the body that have arrived since its head was read. A body of 64 KiB that
    // arrives in one piece then needs no coroutine, which saves a third of the CPU time.
    [[nodiscard]] std::string_view read_ahead(net::Block& block);
    // Keeps a copy of the bytes from read_ahead(), in case the request has to be sent again. Does
    // nothing if bytes are held already.
    void hold(std::string_view ahead) {
        if (held_.empty())
            held_ = ahead;
    }
    // Returns the held bytes, which each further attempt sends. More of the body is read only once
    // the upstream has taken them.
    [[nodiscard]] std::string_view held() const noexcept { return held_; }
    // Notes that the upstream has taken the head and all bytes sent with it. ahead: number of these
    // bytes that followed Request::stream().buffered_body().
    void first_piece_was_sent(std::size_t ahead) noexcept;
    // True if bytes of the body have been read beyond those that came with the head.
    [[nodiscard]] bool has_begun() const noexcept { return begun_; }
    // True if all bytes of the body read so far are still in memory, so that the request can be
    // sent again.
    [[nodiscard]] bool can_replay() const noexcept { return !begun_ || !held_.empty(); }

    // --- the rest ---
    // Starts a coroutine that sends the bytes which `to` has not taken yet, then the rest of the
    // body as it comes.
    void begin(upstream::UpstreamStream& to);
    [[nodiscard]] bool is_running() const noexcept { return running_; }
    // True while the pump waits for the client.
    [[nodiscard]] bool waits_for_client() const noexcept { return reads_; }
    // Ends the pump soon, and aborts the upstream stream.
    void stop() noexcept;
    // Waits until the pump has ended.
    [[nodiscard]] net::Task<> join();
    // Makes the pump ready for another attempt. Requires that the pump has ended.
    void restart() noexcept { stopping_ = false; }

  private:
    [[nodiscard]] static net::Task<> run(BodyPump& self);
    [[nodiscard]] net::Task<> send_all();
    [[nodiscard]] bool begin_body();
    [[nodiscard]] net::Task<bool> send_first();
    [[nodiscard]] net::Task<bool> send_interim();
    [[nodiscard]] bool keeps_up(const SendingRate& rate);
    [[nodiscard]] net::Task<bool> read(net::Block& block, server::BodyPiece& piece);
    [[nodiscard]] net::Task<bool> forward(const server::BodyPiece& piece);
    [[nodiscard]] net::Task<ErrorCode> flush();
    [[nodiscard]] bool goes_on() const noexcept { return !stopping_ && !request_.is_aborted(); }
    void arm();
    void on_deadline() noexcept override;
    void end();

    Request& request_;
    upstream::UpstreamStream* to_ = nullptr;
    net::Event stopped_;
    std::string held_;
    bool begun_ = false;
    bool credited_ = false; // the first piece was reported by ClientStream::consumed()
    bool running_ = false;
    bool writes_ = false; // waits for the upstream to take bytes
    bool reads_ = false;
    bool stopping_ = false;
};

} // namespace stint::proxy
