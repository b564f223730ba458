// The upstream's response on its way to the client.
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

// One for each request. Start reading at take(): the heads; relay_body(): the rest.
class ResponseRelay {
  public:
    // All outlive it.
    ResponseRelay(
        Request& request,
        CooldownGate& cooldown,
        EndpointChoice& endpoint,
        RequestSender& sender) noexcept
        : request_{request}, cooldown_{cooldown}, endpoint_{endpoint}, sender_{sender} {}
    ResponseRelay(const ResponseRelay&) = delete;
    ResponseRelay& operator=(const ResponseRelay&) = delete;

    // The request offers other protocols.
    void set_upgrade(Upgrade& upgrade) noexcept { upgrade_ = &upgrade; }

    // Takes what the upstream's stream has received, up to the final head and what there is of the
    // body behind it. error: the wait's. Incomplete: more has to come. Failed: the request has
    // failed, or is aborted.
    [[nodiscard]] Answer take(const ErrorCode& error);
    // True if all of the response has come and is sent.
    [[nodiscard]] bool is_complete() const noexcept {
        return sender_.stream().response_done() && !request_.stream().has_unsent();
    }
    // Relays the rest of the body, one block at a time: a slow client makes the upstream wait, not
    // the gateway grow.
    [[nodiscard]] net::Task<> relay_body();
    // Sends a piece, and waits until the client has taken it. False: the request is aborted.
    [[nodiscard]] net::Task<bool> send(const server::ResponsePiece& piece);
    // Waits until the client has taken all that waits for it, for body_idle at most between two
    // pieces. False: the request is aborted.
    [[nodiscard]] net::Task<bool> send_unsent();

    // Gets ready for another attempt.
    void restart() noexcept;
    // When the final head had come, if the response came in one piece with it; else the epoch.
    [[nodiscard]] SteadyTime ended_at() const noexcept { return answered_; }
    // Notes that the response takes longer: ended_at() is the epoch.
    void goes_on() noexcept { answered_ = {}; }

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
    Upgrade* upgrade_ = nullptr; // null: none is offered
    unsigned interims_ = 0;
    SteadyTime answered_{};
};

} // namespace stint::proxy
