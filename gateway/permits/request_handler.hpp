// One request of a client, from its body to its reply. Start reading at on_request().
#pragma once

#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "server/client_stream.hpp"
#include "server/request_handler.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stint::permits {

// The session of one downstream connection: owns the leases that are bound to the connection. The
// leases end with the connection, unless the gateway closes it to drain: then they last until their
// ttl ends.
class LeaseSession final : public server::Session {
  public:
    LeaseSession(const proxy::Context& context, locks::LockManager& locks, std::uint64_t number)
        : leases{locks, number}, context_{context} {}
    ~LeaseSession() override {
        if (context_.draining)
            leases.detach();
    }

    // True while a lease is bound to the connection: its client may then stay silent past the idle
    // timeout.
    [[nodiscard]] bool keeps_open() override { return leases.any(); }
    [[nodiscard]] bool may_keep_open() noexcept override { return leases.requests() > 0; }
    void on_sent(std::uint32_t stream) noexcept override { leases.sent(stream); }
    void on_unsent(std::uint32_t stream) noexcept override { leases.unsent(stream); }
    void on_abort() noexcept override { leases.detach(); }

    ConnectionLeases leases;

  private:
    const proxy::Context& context_;
};

// Lives on one worker. Watches the connection while the reply is deferred: a client that
// disconnects loses its place in the queue.
class RequestHandler final : public server::RequestHandler, private net::Deadline {
  public:
    static constexpr std::size_t max_head = 16 * 1024;

    RequestHandler(Service& service, server::ClientStream& stream) noexcept
        : service_{service}, stream_{stream} {}
    ~RequestHandler();

    [[nodiscard]] server::Step on_request() override;
    [[nodiscard]] server::Step on_bad_request(int status, std::string_view detail) override;
    [[nodiscard]] net::Task<> rest() override;
    [[nodiscard]] server::RequestEnd finish() override;
    [[nodiscard]] server::GivenBack given_back() const override;
    void on_client_gone() noexcept override;
    void on_drain() noexcept override;
    void on_hand_over() noexcept override;

  private:
    [[nodiscard]] server::Step call(std::string_view body);
    [[nodiscard]] server::Step reject(int status, std::string_view detail);
    void send_reply();
    net::Task<> wait_for_reply();
    // Waits until the reply is known or the client has disconnected.
    net::Task<> wait_until_settled();
    net::Task<> stream_events();
    net::Task<bool> send_event();
    [[nodiscard]] LeaseSession& session() const noexcept;
    void arm(Duration length);
    void on_deadline() noexcept override;

    Service& service_;
    server::ClientStream& stream_;
    std::string body_; // a request body read after its head; later, the event to send
    std::optional<LeaseOwners> owners_; // set by call()
    PendingPtr pending_;
    net::Event next_event_; // signalled when the stream's next event is due, or the stream must end
    bool streaming_ = false;
    bool timed_out_ = false;  // the sending of an event took too long
    bool gone_ = false;       // the client has disconnected
    bool given_back_ = false; // another process decides about the request
    SteadyTime waiting_since_{};
    bool ended_ = false; // the gateway has ended the stream to drain
};

} // namespace stint::permits
