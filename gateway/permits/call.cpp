#include "permits/call.hpp"

#include "base/hash.hpp"
#include "http/ascii.hpp"
#include "http/local_reply.hpp"
#include "http/own_host.hpp"
#include "http/reply_writer.hpp"
#include "permits/check.hpp"
#include "permits/feedback.hpp"
#include "permits/lock_call.hpp"
#include "permits/names.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace stint::permits {
namespace {

enum class What : std::uint8_t { take, take_all, feedback, check };

struct Target {
    What what{};
    std::string name{}; // the limit's, decoded
};

constexpr std::string_view paths =
    "there is nothing here; there are /v1/limits/NAME/take, /v1/limits/take, /v1/locks, "
    "/v1/feedback and /v1/check";

using Found = Result<Target, http::HeadError>;

Found target_of(std::string_view path) {
    constexpr std::string_view limits = "/v1/limits/";
    constexpr std::string_view take = "/take";
    if (path == "/v1/limits/take")
        return Target{What::take_all};
    if (path == "/v1/feedback")
        return Target{What::feedback};
    if (path == "/v1/check")
        return Target{What::check};
    if (path.size() > limits.size() + take.size() && path.starts_with(limits) &&
        path.ends_with(take)) {
        const std::string_view name =
            path.substr(limits.size(), path.size() - limits.size() - take.size());
        if (name.find('/') == std::string_view::npos) {
            auto decoded = read_limit_name(name);
            return decoded ? Found{Target{What::take, *std::move(decoded)}} : decoded.error();
        }
    }
    return http::HeadError{404, paths};
}

bool names(const Field& field, std::string_view name) noexcept {
    return http::ascii::equals_folded(field.name, name);
}

// True if there is one Authorization field and its token is the right one.
bool shows_token(const RequestHead& head, const routing::PermitTerms& terms) noexcept {
    constexpr std::string_view scheme = "Bearer ";
    const Field* only = nullptr;
    for (const Field& field : head.fields) {
        if (!names(field, "authorization"))
            continue;
        if (only != nullptr)
            return false;
        only = &field;
    }
    return only != nullptr && !terms.token.empty() && only->value.size() > scheme.size() &&
           http::ascii::equals_folded(only->value.substr(0, scheme.size()), "bearer ") &&
           equal_in_constant_time(
               http::ascii::trim(only->value.substr(scheme.size())), terms.token);
}

// Guards against DNS rebinding, where a web page's host name resolves to this machine: true if the
// request's host names this listener. A request with a token or over TLS passes: a page knows no
// token, and TLS checks the host against the certificate.
bool is_meant(const RequestHead& head, const routing::PermitTerms& terms, bool secure) {
    return terms.needs_token || secure ||
           http::is_own_host(
               head.authority, head.minor_version, {terms.reach, terms.host, terms.hosts});
}

// One request of a client, while it is being answered.
struct Call {
    Service& service;
    const RequestHead& head;
    std::string_view body;
    const server::ConnectionInfo& connection;
    http::Response& to;

    PendingPtr fail(int status, std::string_view detail) const {
        http::make_problem(to, {}, status, detail);
        return none();
    }
    static PendingPtr none() noexcept { return {}; }

    PendingPtr take(std::optional<std::string_view> name) const {
        const auto ask = service.request_reader.read_take(body, name);
        if (!ask)
            return fail(400, ask.error());
        auto taking = service.acquire_operations.make(service.context, service.shared, connection);
        if (taking->begin(*ask) == AcquireOperation::Step::waits)
            return as_base<DeferredReply>(std::move(taking));
        taking->respond(to);
        return none();
    }

    // Answers health probes, which show no token: 200, or 503 at /readyz while the gateway drains.
    // Tells nothing else.
    PendingPtr health() const {
        if (head.method != "GET" && head.method != "HEAD") {
            http::make_method_not_allowed(to, {}, "GET, HEAD");
            return none();
        }
        if (head.path == "/readyz" && service.context.draining)
            return fail(503, "the gateway is stopping");
        http::make_reply(
            to, {}, 200, "application/json", [](http::HeadBuffer&) {},
            [](auto& sink) { sink << "{\"status\":\"ok\"}\n"; });
        return none();
    }

    PendingPtr feed_back() const {
        const auto ask = service.request_reader.read_feedback(body);
        if (!ask)
            return fail(400, ask.error());
        take_feedback(service.context, service.shared, *ask, to);
        return none();
    }
};

} // namespace

PendingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const server::ConnectionInfo& connection,
    LeaseOwners& owners,
    http::Response& to) {
    const Call call{service, head, body, connection, to};
    const auto& terms = service.context.active->snapshot->permits;
    if (!terms)
        return call.fail(503, "permits are not given any more");
    if (head.path == "/healthz" || head.path == "/readyz")
        return call.health();
    const bool has_token = terms->needs_token && shows_token(head, *terms);
    const auto target = target_of(head.path);
    // Before the check for Origin: the asking proxy forwards the Origin of a browser's request.
    if (target && target->what == What::check)
        return check(service, head, connection, has_token, to);
    // Refuses browsers: a web page's script could reach this listener from its reader's network.
    if (std::ranges::any_of(head.fields, [](const Field& each) { return names(each, "origin"); }))
        return call.fail(403, "a web page made this request: permits are not for browsers");
    if (terms->needs_token && !has_token) {
        http::make_unauthorized(to, {}, "this listener asks for a token: Authorization: Bearer");
        return Call::none();
    }
    if (!is_meant(head, *terms, connection.secure))
        return call.fail(
            421, "this listener does not answer to that host: use its address or localhost, or "
                 "name the host in permits.hosts");
    if (is_about_locks(head.path))
        return answer_lock(service, head, body, owners, to);
    if (!target)
        return call.fail(target.error().status, target.error().detail);
    if (head.method != "POST") {
        http::make_method_not_allowed(to, {}, "POST");
        return Call::none();
    }
    switch (target->what) {
    case What::take:
        return call.take(target->name);
    case What::take_all:
        return call.take(std::nullopt);
    case What::feedback:
    case What::check:
        break;
    }
    return call.feed_back();
}

} // namespace stint::permits
