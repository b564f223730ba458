// One worker's whole data plane on the test's own thread, between real loopback sockets: a
// configuration in YAML, a client and an upstream with exact bytes, and time that the test moves.
#pragma once

#include "limits/registry.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "proxy/context.hpp"
#include "runtime/compile.hpp"
#include "runtime/listener.hpp"
#include "silent_room.hpp"
#include "wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::test {

class InProcessGateway {
  public:
    // yaml: everything but `listeners` and `upstreams`; its routes lead to the upstream `origin`,
    // whose only endpoint is `upstream`.
    // options: what connect()'s listener says of its connections. With its tls both sides of the
    // gateway speak TLS; connect() and accept() give bare connections all the same.
    explicit InProcessGateway(std::string_view yaml, server::ListenerOptions options = {});
    // The same with a second endpoint, `second`, and what else `origin` says ("balance: hash").
    struct TwoEndpoints {
        std::string settings{};
        unsigned room = 0; // max_requests of each; 0: none
    };
    InProcessGateway(std::string_view yaml, TwoEndpoints two);
    // The same with `upstream` on a Unix socket, never over TLS.
    struct UnixUpstream {
        std::string path;
    };
    InProcessGateway(std::string_view yaml, const UnixUpstream& at);
    ~InProcessGateway();

    // With STINT_TEST_TLS both sides of the gateway speak TLS, and no test sees it.
    Wire connect() { return connect_to(address_); }
    // A client with a small window.
    Wire connect_narrow() { return connect_to(address_, true); }
    // A client whose half-close is not its end.
    Wire connect_half_closing() { return connect_to(half_close_address_); }
    // A caller who asks for permits; never over TLS.
    Wire connect_for_permits() { return Wire::connect(loop(), permits_address_); }
    void reload(std::string_view yaml);

    // Lets everything happen that can without a further byte or time-out, a worker's tick included.
    void settle();
    // As if that much time had passed for every deadline. Clocks stay as they are.
    void pass(Duration time);
    // Sends all of it, while time passes: what the gateway drops it reads at a bounded rate.
    void send_in_time(Wire& wire, std::string_view bytes);
    // Lets go who waits and may go now, as the thread of the openings does; open() tells them, too.
    void let_go();
    void open();
    // Writes the access log there from now on.
    void log_to(std::string path) {
        access_log_.set_target({observe::AccessLog::Target::Kind::file, std::move(path)});
    }
    [[nodiscard]] std::uint64_t lines_logged() const { return access_log_.written(); }
    void run_until(
        const std::function<bool()>& done,
        std::source_location where = std::source_location::current());

    [[nodiscard]] net::asio::io_context& loop() noexcept { return *loop_; }
    [[nodiscard]] proxy::Context& context() noexcept { return *context_; }
    // 0: upstream, 1: second.
    [[nodiscard]] upstream::EndpointState& endpoint(std::size_t index);
    [[nodiscard]] limits::Limit& limit(std::string_view name);
    // As a worker's drain begins: connections of callers end that have nothing under way.
    void drain_permits();
    // Where those wait that the test lets in, and the leases that it ends.
    [[nodiscard]] SilentRoom& room() noexcept { return room_; }
    [[nodiscard]] locks::LockManager& locks() noexcept { return locks_; }
    // Idle connections to the upstream.
    [[nodiscard]] std::size_t pooled() const {
        return context_->active->origins.at(0)->cluster().idle();
    }
    // Requests that ended in this way, with this class of status (2 for 2xx; 0: no answer).
    [[nodiscard]] std::uint64_t ended(observe::Outcome outcome, std::size_t status_class) const;
    [[nodiscard]] const observe::UpstreamCounters& to_upstream() const {
        return context_->counters.upstreams.at(0);
    }

  private:
    InProcessGateway(
        std::string_view yaml,
        server::ListenerOptions options,
        std::optional<TwoEndpoints> two,
        const net::Endpoint& upstream_at);
    [[nodiscard]] runtime::Compiled compile(std::string_view yaml);
    net::Endpoint listen(runtime::ListenerRole role);
    Wire connect_to(const net::Endpoint& address, bool narrow = false);

    const std::optional<TwoEndpoints> two_;
    const bool tls_; // on both sides
    limits::Registry registry_;
    upstream::EndpointRegistry endpoints_;
    observe::MetricSlots slots_;
    observe::AccessLog access_log_{{observe::AccessLog::Target::Kind::off, {}}};
    SilentRoom room_;
    proxy::Shared shared_{registry_.hasher(), room_};
    locks::LockManager locks_;
    permits::Shared shared_permits_{registry_, locks_};
    std::uint64_t generation_ = 0;
    runtime::Compiled compiled_;

    // In a worker's order: the loop ends before the context that its handlers refer to.
    std::unique_ptr<proxy::Context> context_;
    std::unique_ptr<proxy::Service> proxied_;
    std::unique_ptr<permits::Service> permits_;
    std::unique_ptr<runtime::ConnectionDispatcher> dispatcher_;
    std::vector<std::shared_ptr<runtime::Listener>> listeners_;
    std::unique_ptr<net::asio::io_context> loop_;
    net::Endpoint address_;
    net::Endpoint half_close_address_;
    net::Endpoint permits_address_;

  public:
    ListeningWire upstream;
    ListeningWire second;
};

} // namespace stint::test
