#include "permits/check.hpp"

#include "http/local_reply.hpp"
#include "http/query.hpp"
#include "permits/checked_request.hpp"
#include "permits/forwarded_request.hpp"

#include <optional>
#include <string>
#include <utility>

namespace stint::permits {

PendingPtr check(
    Service& service,
    const RequestHead& asking,
    const server::ConnectionInfo& connection,
    bool has_token,
    http::Response& to) {
    proxy::Context& context = service.context;
    const routing::ClientAddress& peer = *connection.peer;
    const routing::TrustedProxies& trusted = context.active->snapshot->trusted;
    if (!has_token && !trusted.contains(peer.address())) {
        http::make_problem(
            to, {}, 403, "X-Forwarded-* are believed only of trusted_proxies, or with a token");
        return {};
    }
    std::optional<int> deny;
    if (const auto asked = http::parameter(asking.query, "deny_status")) {
        if (*asked != "403") {
            http::make_problem(to, {}, 400, "deny_status can be 403 and nothing else");
            return {};
        }
        deny = 403;
    }
    std::string& text = context.scratch.rewritten;
    const auto written = write_forwarded_request(text, asking, trusted.header, has_token);
    if (!written) {
        http::make_problem(to, {}, 400, written.error());
        return {};
    }
    auto described = service.checked_requests.make(context, deny, connection);
    if (described->begin(text, peer) == CheckedRequest::Step::waits)
        return as_base<DeferredReply>(std::move(described));
    described->respond(to);
    return {};
}

} // namespace stint::permits
