// One request from its head to the end of its response. Start reading at on_request() in
// exchange.cpp.
#pragma once

#include "net/types.hpp"
#include "proxy/admission/cooldown_gate.hpp"
#include "proxy/context.hpp"
#include "proxy/forward/body_pump.hpp"
#include "proxy/forward/endpoint_choice.hpp"
#include "proxy/forward/request_sender.hpp"
#include "proxy/progress.hpp"
#include "proxy/request.hpp"
#include "proxy/response/response_relay.hpp"
#include "proxy/response/upgrade.hpp"
#include "server/client_stream.hpp"
#include "server/request_handler.hpp"
#include "upstream/upstream_stream.hpp"

#include <exception>
#include <memory>
#include <string_view>

namespace stint::proxy {

// Lives on one worker, owned by its client's connection for the time of one request. Orders the
// steps; its parts take them. Destructors release all it holds, in the reverse order of the
// members: first the stream to the upstream, then the place on the endpoint, then the permit, last
// the configuration that all of these point into.
class Exchange final : public server::RequestHandler,
                       private upstream::ResponseHandler,
                       private Request::Aborted {
  public:
    using Step = server::Step;

    Exchange(Context& context, server::ClientStream& stream);
    ~Exchange() = default;

    // Decides, and sends what can be sent at once: the request to the upstream, or a reply of the
    // gateway's own.
    [[nodiscard]] Step on_request() override;
    // Answers what cannot be read as a request at all, and ends the connection.
    [[nodiscard]] Step on_bad_request(int status, std::string_view detail) override;
    // Runs what takes longer, from the request's current state on.
    [[nodiscard]] net::Task<> rest() override;
    [[nodiscard]] server::RequestEnd finish() override;

    // Aborts the exchange: the client has closed or reset, and no longer waits for the answer.
    void on_client_gone() noexcept override { request_.abort(AbortReason::client_gone); }
    // Polls its tunnel for a reset.
    void poll_tunnel() noexcept override;
    // Waits for the coroutine that sends the rest of the body upstream.
    [[nodiscard]] net::Task<> join() override;

  private:
    // The decision.
    Next decide();
    void prepare_forwarding(const routing::KeyFacts& facts);
    [[nodiscard]] net::Task<> wait();
    [[nodiscard]] net::Task<Next> wait_for_limits();
    [[nodiscard]] Next finish_wait();
    [[nodiscard]] Next admit_after_pause();

    // The upstream's response.
    void on_response(const ErrorCode& error) override;
    [[nodiscard]] Step take_response(const ErrorCode& error);
    [[nodiscard]] net::Task<bool> run_attempts();

    // A reply of the gateway's own.
    [[nodiscard]] bool reply_at_once();
    [[nodiscard]] net::Task<> reply();
    void reply_for_abort();

    // The end.
    void on_abort() noexcept override;
    [[nodiscard]] bool note_cut() noexcept;

    Request request_;
    CooldownGate cooldown_{request_};
    EndpointChoice endpoint_{request_};
    BodyPump pump_{request_};
    RequestSender sender_{request_, cooldown_, endpoint_, pump_};
    ResponseRelay relay_{request_, cooldown_, endpoint_, sender_};
    std::unique_ptr<Upgrade> upgrade_; // null: it offers no other protocol
    Next next_ = Next::reply;
    Answer answer_ = Answer::incomplete;
    std::exception_ptr failure_; // thrown while the response's head was read
};

} // namespace stint::proxy
