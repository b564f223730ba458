// Relays the upstream's response to the client.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "proxy/admission/cooldown_gate.hpp"
#include "proxy/forward/endpoint_choice.hpp"
#include "proxy/forward/request_sender.hpp"
#include "proxy/request.hpp"
#include "proxy/response/upgrade.hpp"
#include "server/client_stream.hpp"
#include "upstream/upstream_stream.hpp"

namespace stint::proxy {

// One for each request. Start reading at take(), which relays heads, then relay_body().
class ResponseRelay {
  public:
    // All arguments must outlive the relay.
    ResponseRelay(
        Request& request,
        CooldownGate& cooldown,
        EndpointChoice& endpoint,
        RequestSender& sender) noexcept
        : request_{request}, cooldown_{cooldown}, endpoint_{endpoint}, sender_{sender} {}
    ResponseRelay(const ResponseRelay&) = delete;
    ResponseRelay& operator=(const ResponseRelay&) = delete;

    // Sets the upgrade of a request that offers other protocols. Must outlive the relay's use.
    void set_upgrade(Upgrade& upgrade) noexcept { upgrade_ = &upgrade; }

    // Relays the heads that the upstream's stream has received, up to the final head and the first
    // bytes of its body. error: the result of the wait for them. Returns incomplete if more heads
    // have to come, retry if the request is to be sent again, failed if it has failed or is
    // aborted, or ready once the final head was sent.
    [[nodiscard]] Answer take(const ErrorCode& error);
    // True if all of the response has come and is sent.
    [[nodiscard]] bool is_complete() const noexcept {
        return sender_.stream().response_done() && !request_.stream().has_unsent();
    }
    // Relays the rest of the body, one block at a time: a slow client puts backpressure on the
    // upstream, and the gateway's memory does not grow.
    [[nodiscard]] net::Task<> relay_body();
    // Sends a piece of the body, and waits until the client has taken it. Returns false if the
    // request is aborted.
    [[nodiscard]] net::Task<bool> send(const server::ResponsePiece& piece);
    // Sends the bytes that the client has not taken yet, and waits until it has taken all. Aborts
    // the request if the client takes nothing for body_idle. Returns false if the request is
    // aborted.
    [[nodiscard]] net::Task<bool> send_unsent();

    // Prepares the relay for another attempt.
    void restart() noexcept;
    // Returns the time at which the response ended, if all of it came with its final head.
    // Otherwise the epoch.
    [[nodiscard]] SteadyTime ended_at() const noexcept { return answered_; }
    // Sets ended_at() to the epoch: the response goes on after its head.
    void clear_end() noexcept { answered_ = {}; }

  private:
    Answer on_failure(const ErrorCode& error);
    [[nodiscard]] bool on_interim(const ResponseHead& head);
    Answer on_final(const ResponseHead& head);
    Answer on_upgrade(const ResponseHead& head);
    void note(const ResponseHead& head);
    Answer fail(std::string_view what);
    Answer send_head(const server::ForwardedResponse& response, const server::ResponsePiece& piece);
    http::PolicyFields settle(const ResponseHead& head);

    Request& request_;
    CooldownGate& cooldown_;
    EndpointChoice& endpoint_;
    RequestSender& sender_;
    Upgrade* upgrade_ = nullptr; // null: the request offers no other protocol
    unsigned interims_ = 0;
    SteadyTime answered_{};
};

} // namespace stint::proxy
