// A request's body on its way to the upstream, beside the wait for the response.
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

// One for each request. What breaks it aborts the request, unless the response has come before.
// Its owner joins it before both end.
class BodyPump : private net::Deadline {
  public:
    explicit BodyPump(Request& request) noexcept : request_{request} {}

    // --- the bytes that go out with the head ---
    // Reads what has come of the body since its head was read. A body of 64 KiB, which the client
    // sends in one piece, needs no pump then: two thirds of the CPU time.
    [[nodiscard]] std::string_view read_ahead(net::Block& block);
    // Keeps a copy of these bytes: the request may have to be sent again. They are held() already,
    // or nothing is held.
    void hold(std::string_view ahead) {
        if (held_.empty())
            held_ = ahead;
    }
    // Each further attempt sends them. More is read only when the upstream has taken them.
    [[nodiscard]] std::string_view held() const noexcept { return held_; }
    // Notes that the upstream has taken the head and all bytes that went out with it. ahead: of
    // those behind Request::stream().buffered_body().
    void first_piece_was_sent(std::size_t ahead) noexcept;
    // True if bytes of the body have been read beyond those that came with the head.
    [[nodiscard]] bool has_begun() const noexcept { return begun_; }
    // True if all that was read of the body is at hand: the request can be sent again.
    [[nodiscard]] bool can_replay() const noexcept { return !begun_ || !held_.empty(); }

    // --- the rest ---
    // Sends what `to` has not taken yet, then the rest of the body as it comes.
    void begin(upstream::UpstreamStream& to);
    [[nodiscard]] bool is_running() const noexcept { return running_; }
    // True while it waits for the client.
    [[nodiscard]] bool waits_for_client() const noexcept { return reads_; }
    // Ends it soon, and `to` with it.
    void stop() noexcept;
    // Waits until it has ended.
    [[nodiscard]] net::Task<> join();
    // Gets ready for another attempt, once it has ended.
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
    bool credited_ = false; // the client's stream, for the first piece
    bool running_ = false;
    bool writes_ = false; // waits for the upstream
    bool reads_ = false;
    bool stopping_ = false;
};

} // namespace stint::proxy
