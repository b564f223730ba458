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

// Handles one request, on one worker's thread. The client's connection owns it for the time of the
// request. It orders the steps; its members carry them out. Destruction releases what it holds in
// the reverse order of the members: first the stream to the upstream, then the slot on the
// endpoint, then the permit, last the configuration that all of these point into.
class Exchange final : public server::RequestHandler,
                       private upstream::ResponseHandler,
                       private Request::Aborted {
  public:
    using Step = server::Step;

    Exchange(Context& context, server::ClientStream& stream);
    ~Exchange() = default;

    // Decides on the request, and sends what can be sent at once: the request to the upstream, or a
    // reply of the gateway's own.
    [[nodiscard]] Step on_request() override;
    // Answers a request that is malformed or late, and ends the connection.
    [[nodiscard]] Step on_bad_request(int status, std::string_view detail) override;
    // Runs the steps that have to wait, such as limits, connects and long bodies, from the
    // request's current state on.
    [[nodiscard]] net::Task<> rest() override;
    [[nodiscard]] server::RequestEnd finish() override;
    [[nodiscard]] server::GivenBack given_back() const override;

    // Aborts the exchange. Called when the client has closed or reset its connection.
    void on_client_gone() noexcept override { request_.abort(AbortReason::client_gone); }
    // Gives the request back if it waits for its limits or for the end of a pause.
    void on_hand_over() noexcept override;
    // Checks the connections of the exchange's tunnel for a reset.
    void poll_tunnel() noexcept override;
    // Waits for the end of the exchange's other coroutines, which send the body or run the tunnel.
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
    std::unique_ptr<Upgrade> upgrade_; // null: the request offers no other protocol
    Next next_ = Next::reply;
    bool given_back_ = false; // another process decides about the request
    Answer answer_ = Answer::incomplete;
    std::exception_ptr failure_; // thrown while a response's head was read; rest() rethrows it
};

} // namespace stint::proxy
