#include "simulate/replay.hpp"

#include "http/ascii.hpp"
#include "http/target.hpp"
#include "limits/limit.hpp"
#include "routing/charges.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::simulate {
namespace {

constexpr std::size_t largest_head = 1 << 20;

// Fields that say how the head itself is to be read; the log's host is a member of its own.
bool is_framing(std::string_view name) {
    constexpr std::array names{
        "host", "content-length", "transfer-encoding", "connection", "expect"};
    return std::ranges::any_of(
        names, [&](const char* each) { return http::ascii::equals_folded(name, each); });
}

// The head as the client may have sent it: the gateway's own parser reads it.
void write_head(std::string& head, const LoggedRequest& request) {
    head.clear();
    head.append(request.method).append(" ").append(request.target);
    if (request.host.empty())
        head += " HTTP/1.0\r\n";
    else
        head.append(" HTTP/1.1\r\nHost: ").append(request.host).append("\r\n");
    for (const auto& [name, value] : request.fields)
        if (!is_framing(name))
            head.append(name).append(": ").append(value).append("\r\n");
    head += "\r\n";
}

// The log's times are of the wall clock alone.
Now now_of(WallTime time) {
    return {SteadyTime{time.time_since_epoch()}, time};
}

} // namespace

Verdict verdict_of_log(const LoggedRequest& request) {
    if (request.was_refused())
        return {Verdict::Kind::refused, request.route, request.limit, {}};
    if (request.route.empty())
        return {};
    return {Verdict::Kind::admitted, request.route, {}, {}};
}

Replay::Replay(const config::Config& config)
    : compiled_{runtime::compile(config, registry_, slots_, 1)}, parser_{largest_head} {}

Verdict Replay::judge(const LoggedRequest& request) {
    release_until(now_of(request.time).steady);
    const routing::ClientAddress client{
        IpAddress::parse(request.client).value_or(IpAddress{}), registry_.hasher()};
    routing::KeyFacts facts{.client = client, .hasher = registry_.hasher()};
    const routing::Route* const route = route_of(request, facts);
    return route == nullptr ? Verdict{} : admit(request, *route, facts);
}

void Replay::release_until(SteadyTime now) noexcept {
    while (!held_.empty() && held_.front().until <= now) {
        std::ranges::pop_heap(held_, std::ranges::greater{}, &Held::until);
        const SteadyTime until = held_.back().until;
        held_.back().permit.release({until, WallTime{until.time_since_epoch()}});
        held_.pop_back();
    }
}

const routing::Route* Replay::route_of(const LoggedRequest& request, routing::KeyFacts& facts) {
    write_head(head_, request);
    const auto head = parser_.parse_request(head_);
    if (!head)
        return nullptr;
    const auto path = http::normalise_path(head->path, path_scratch_);
    if (!path)
        return nullptr;
    facts.fields = head->fields;
    facts.query = head->query;
    facts.method = head->method;
    facts.path = *path;
    facts.host = http::normalise_host(head->authority, host_scratch_);
    const routing::Route* const route =
        compiled_.snapshot->routes.match(facts.host, *path, head->method).route;
    if (route != nullptr)
        facts.route = route->name;
    return route;
}

Verdict Replay::admit(
    const LoggedRequest& request, const routing::Route& route, const routing::KeyFacts& facts) {
    const auto refused_by = [&](const routing::RouteLimit& limit) {
        return Verdict{
            Verdict::Kind::refused, route.name, limit.limit->identity().name,
            std::string{limit.key.evaluate(facts, key_scratch_).text}};
    };
    const routing::Charges charges = routing::charges_of(route, facts, key_scratch_);
    if (charges.denied_by != nullptr)
        return refused_by(*charges.denied_by);
    const Now now = now_of(request.time);
    limits::Decision decision = limits::admit(charges.view(), now);
    if (!decision.allowed())
        return refused_by(*charges.limits[decision.refused_by]);
    const bool holds = decision.permit.holds_slots();
    if (holds) {
        held_.push_back({now.steady + request.duration, std::move(decision.permit)});
        std::ranges::push_heap(held_, std::ranges::greater{}, &Held::until);
    }
    return {Verdict::Kind::admitted, route.name, {}, {}, holds};
}

} // namespace stint::simulate
