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
    // All outlive it.
    RequestSender(
        Request& request, CooldownGate& cooldown, EndpointChoice& endpoint, BodyPump& pump) noexcept
        : request_{request}, cooldown_{cooldown}, endpoint_{endpoint}, pump_{pump} {}
    RequestSender(const RequestSender&) = delete;
    RequestSender& operator=(const RequestSender&) = delete;

    // Offers these protocols in Upgrade, as http::offered_protocols() gives them.
    void offer(std::string_view protocols) noexcept { offer_ = protocols; }

    // Sends head and body in one write on an idle connection: the usual case. Returns sent; forward
    // if that takes longer: send_slowly(); else what the request waits for, or reply.
    [[nodiscard]] Next send_at_once();
    // Connects and sends. Returns sent, wait_cooldown or reply.
    [[nodiscard]] net::Task<Next> send_slowly();

    [[nodiscard]] bool has_stream() const noexcept { return stream_ != nullptr; }
    [[nodiscard]] upstream::UpstreamStream& stream() const noexcept { return *stream_; }
    // When the request, or its first part, was sent; the epoch: never.
    [[nodiscard]] SteadyTime sent_at() const noexcept { return sent_; }
    [[nodiscard]] unsigned attempts() const noexcept { return retry_.attempts(); }

    // Decides whether to send once more on another connection: the one used had been idle.
    [[nodiscard]] bool should_reconnect();
    // Decides whether to send once more, and takes a place on the endpoint for it. If the request
    // was sent, it is one more to the scope of its cool-down: without its permission the client
    // gets the response there is. why: the reason that this endpoint has failed by, for people.
    [[nodiscard]] bool should_retry(std::string_view why, bool was_sent);
    // Gets ready for another attempt: drops the stream. The pump refers to it, and ends first.
    [[nodiscard]] net::Task<> rewind();

    // Fails the request and reports its endpoint. why: for logs.
    void fail(int status, std::string why);

    // Ends all waits for the upstream with an error.
    void abort() noexcept {
        if (stream_)
            stream_->abort();
    }
    // Ends the stream; its connection goes on if it can carry another request.
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
    bool has_made_room_ = false; // for the connection under way
};

} // namespace stint::proxy
