// Sends a request to an endpoint of its origin, on an idle connection or a new one.
#pragma once

#include "base/time.hpp"
#include "proxy/admission/cooldown_gate.hpp"
#include "proxy/forward/body_pump.hpp"
#include "proxy/forward/endpoint_choice.hpp"
#include "proxy/forward/retry_policy.hpp"
#include "proxy/request.hpp"
#include "upstream/upstream_stream.hpp"

#include <string>
#include <string_view>

namespace stint::proxy {

// One for each request. Owns the stream to the upstream. Start reading at send_at_once().
class RequestSender {
  public:
    // All arguments must outlive the sender.
    RequestSender(
        Request& request, CooldownGate& cooldown, EndpointChoice& endpoint, BodyPump& pump) noexcept
        : request_{request}, cooldown_{cooldown}, endpoint_{endpoint}, pump_{pump} {}
    RequestSender(const RequestSender&) = delete;
    RequestSender& operator=(const RequestSender&) = delete;

    // Sets the protocols to offer in Upgrade: the result of http::offered_protocols(), which must
    // stay valid.
    void offer(std::string_view protocols) noexcept { offer_ = protocols; }

    // Sends head and body in one write on an idle connection: the usual case. Returns sent; forward
    // if send_slowly() has to connect first; or the wait or reply that the request needs instead.
    [[nodiscard]] Next send_at_once();
    // Connects and sends. Returns sent, wait_cooldown or reply.
    [[nodiscard]] net::Task<Next> send_slowly();

    [[nodiscard]] bool has_stream() const noexcept { return stream_ != nullptr; }
    [[nodiscard]] upstream::UpstreamStream& stream() const noexcept { return *stream_; }
    // Returns the time at which the request, or its first part, was sent; the epoch if it was not
    // sent.
    [[nodiscard]] SteadyTime sent_at() const noexcept { return sent_; }
    [[nodiscard]] unsigned attempts() const noexcept { return retry_.attempts(); }

    // Returns true if the request is to be sent again on another connection, because the idle
    // connection that it was sent on has failed.
    [[nodiscard]] bool should_reconnect();
    // Returns true if the retry rules let the request be sent again, and if so has taken a slot on
    // an endpoint for it. why: the endpoint's failure, for people. was_sent: the request was sent,
    // so that the retry needs another permission of the cool-down. Without that permission the
    // client gets the response at hand.
    [[nodiscard]] bool should_retry(std::string_view why, bool was_sent);
    // Prepares another attempt: stops the pump, then drops the stream that the pump writes to.
    [[nodiscard]] net::Task<> rewind();

    // Fails the request, and reports the failure to its endpoint. why: for logs.
    void fail(int status, std::string why);

    // Ends all waits for the upstream with an error.
    void abort() noexcept {
        if (stream_)
            stream_->abort();
    }
    // Ends the stream. Its connection goes back to the pool if `clean`, unless it began with a
    // PROXY header.
    void end(bool clean, SteadyTime now) noexcept;
    void drop_stream() noexcept { stream_.reset(); }

  private:
    [[nodiscard]] Next may_send(SteadyTime now);
    void give_back_admission(const Now& now);
    [[nodiscard]] ErrorCode send_request(std::string_view ahead);
    void was_sent(std::size_t ahead, SteadyTime at);
    void was_sent_in_part(const ErrorCode& error, SteadyTime at);
    void replace_idle_connection() noexcept;
    [[nodiscard]] net::Task<Next> open_stream();
    [[nodiscard]] net::Task<upstream::Connected> connect();
    [[nodiscard]] bool take_idle_again();
    [[nodiscard]] bool made_room(const ErrorCode& error);
    void explain(const upstream::Connected& connected);
    [[nodiscard]] bool should_retry_connect(const upstream::Connected& connected);
    [[nodiscard]] RetryPolicy::Facts facts() const noexcept;

    Request& request_;
    CooldownGate& cooldown_;
    EndpointChoice& endpoint_;
    BodyPump& pump_;
    RetryPolicy retry_;
    std::string_view offer_;
    upstream::UpstreamStreamPtr stream_;
    SteadyTime sent_{};
    bool has_made_room_ = false; // idle connections were closed during this connect
};

} // namespace stint::proxy
