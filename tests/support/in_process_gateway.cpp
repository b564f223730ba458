#include "in_process_gateway.hpp"

#include "config/load.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "proxy/service.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace stint::test {
namespace {

net::Endpoint any_port() {
    return *net::ip_endpoint("127.0.0.1", 0);
}

} // namespace

InProcessGateway::InProcessGateway(std::string_view yaml, server::ListenerOptions options)
    : InProcessGateway{yaml, options, std::nullopt, any_port()} {}

InProcessGateway::InProcessGateway(std::string_view yaml, TwoEndpoints two)
    : InProcessGateway{yaml, {}, std::optional{std::move(two)}, any_port()} {}

InProcessGateway::InProcessGateway(std::string_view yaml, const UnixUpstream& at)
    : InProcessGateway{yaml, {}, std::nullopt, *net::unix_endpoint(at.path)} {}

InProcessGateway::InProcessGateway(
    std::string_view yaml,
    server::ListenerOptions options,
    std::optional<TwoEndpoints> two,
    const net::Endpoint& upstream_at)
    : two_{std::move(two)}, tls_{options.tls != nullptr || over_tls()},
      locks_{registry_, room_.scheduler(), net::read_clocks().wall},
      loop_{std::make_unique<net::asio::io_context>(1)}, upstream{*loop_, upstream_at},
      second{*loop_} {
    std::signal(SIGPIPE, SIG_IGN); // as the process does
    context_ = std::make_unique<proxy::Context>(
        loop_->get_executor(), shared_, access_log_.open_channel());
    permits_ = std::make_unique<permits::Service>(*context_, shared_permits_);
    proxied_ = std::make_unique<proxy::Service>(*context_);
    dispatcher_ = std::make_unique<runtime::ConnectionDispatcher>(*context_, *proxied_, *permits_);
    locks_.configure({}, 100, 1000, net::read_clocks());
    reload(yaml);
    address_ = listen({.options = options});
    half_close_address_ = listen({.options = {.half_close_allowed = true}});
    permits_address_ = listen({.options = {}, .permits = true});
}

InProcessGateway::~InProcessGateway() {
    for (const auto& listener : listeners_)
        listener->close();
    context_->abort_connections();
    try {
        run_until([this] { return context_->worker_load == 0; });
    } catch (const std::exception&) {
        // The test has failed already, or its leak is reported by the sanitizer.
    }
    listeners_.clear();
    context_->origins.pools().close_idle();
    loop_.reset();
}

Wire InProcessGateway::connect_to(const net::Endpoint& address, bool narrow) {
    Wire wire = Wire::connect(loop(), address, narrow);
    if (over_tls())
        wire.begin_tls_as_client();
    return wire;
}

net::Endpoint InProcessGateway::listen(runtime::ListenerRole role) {
    if (tls_)
        role.options.tls = tls_server();
    auto opened = net::open_listeners(any_port(), 1);
    const net::Endpoint address = opened.value().address;
    listeners_.push_back(std::make_shared<runtime::Listener>(
        *context_, *dispatcher_, address, std::move(opened->sockets.front()), std::move(role)));
    listeners_.back()->start();
    return address;
}

runtime::Compiled InProcessGateway::compile(std::string_view yaml) {
    const auto endpoint = [this](const ListeningWire& at) {
        std::string address = at.text();
        if (tls_)
            address.insert(0, "\"https://").append("\"");
        if (!two_ || two_->room == 0)
            return address;
        return "{address: " + address + ", max_requests: " + std::to_string(two_->room) + "}";
    };
    std::string whole = "listeners: [{address: 127.0.0.1:1}]\nupstreams: {origin: {endpoints: [";
    whole += endpoint(upstream);
    if (two_)
        whole.append(", ").append(endpoint(second));
    whole += "]";
    if (two_ && !two_->settings.empty())
        whole.append(", ").append(two_->settings);
    if (tls_)
        whole.append(", tls: {ca: ").append(tls_authority()).append("}");
    whole.append("}}\n").append(yaml);
    const auto config = config::load_text(whole, "test.yaml");
    if (!config)
        throw std::runtime_error{config.error().front().text()};
    runtime::TlsObjects tls;
    if (tls_)
        tls.upstreams = {{"origin", tls_client()}};
    return runtime::compile(*config, registry_, slots_, ++generation_, {}, tls, &endpoints_);
}

void InProcessGateway::reload(std::string_view yaml) {
    runtime::Compiled next = compile(yaml);
    context_->counters.fit(
        slots_.routes().size(), slots_.refusals().size(), slots_.upstreams().size(),
        slots_.waits().size());
    context_->adopt(next.snapshot);
    permits_->adopt();
    compiled_ = std::move(next);
}

void InProcessGateway::run_until(const std::function<bool()>& done, std::source_location where) {
    const auto tick_and_ask = [&] {
        context_->tick(net::read_steady_clock());
        return done();
    };
    test::run_until(loop(), tick_and_ask, where);
}

void InProcessGateway::settle() {
    context_->tick(net::read_steady_clock());
    loop_->restart();
    for (int idle_turns = 0; idle_turns < 3;)
        idle_turns = loop_->poll() > 0 ? 0 : idle_turns + 1;
}

void InProcessGateway::send_in_time(Wire& wire, std::string_view bytes) {
    for (int rounds = 0; !bytes.empty() && rounds < 10'000; ++rounds) {
        bytes.remove_prefix(wire.send_some(bytes));
        settle();
        pass(std::chrono::milliseconds{100});
    }
    if (!bytes.empty())
        throw std::runtime_error{"the gateway did not take all of it"};
}

void InProcessGateway::pass(Duration time) {
    settle();
    context_->tick(net::read_steady_clock() + time);
    settle();
}

void InProcessGateway::drain_permits() {
    context_->draining = true;
    context_->drain_connections(false);
    settle();
}

void InProcessGateway::let_go() {
    const Now now = net::read_clocks();
    (void)locks_.expire(now);
    (void)room_.room().open(now);
}

void InProcessGateway::open() {
    let_go();
    settle();
}

limits::Limit& InProcessGateway::limit(std::string_view name) {
    const auto found =
        std::find_if(compiled_.limits.begin(), compiled_.limits.end(), [name](const auto& each) {
            return each.limit->identity().name == name;
        });
    if (found == compiled_.limits.end())
        throw std::runtime_error{"no such limit"};
    return *found->limit;
}

upstream::EndpointState& InProcessGateway::endpoint(std::size_t index) {
    return *compiled_.snapshot->upstreams->at(0).endpoints.at(index).state;
}

std::uint64_t InProcessGateway::ended(observe::Outcome outcome, std::size_t status_class) const {
    std::uint64_t sum = 0;
    for (const observe::RouteCounters& route : context_->counters.routes)
        sum += route.requests[static_cast<std::size_t>(outcome)][status_class];
    return sum;
}

} // namespace stint::test
