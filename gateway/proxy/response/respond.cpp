// Answers from the configuration: a route's own, and a listener's redirect to https.
#include "http/fixed_reply.hpp"
#include "proxy/exchange.hpp"

#include <string>

namespace stint::proxy {
namespace {

// A client that repeats its request there sends the same method and body (RFC 9110 section 15.4.9).
const FixedAnswer& to_https() {
    static const FixedAnswer answer{
        .status = 308,
        .content_type = {},
        .body = {},
        .fields = {},
        .location = TextTemplate{"https://{host}{path}{?query}"}};
    return answer;
}

} // namespace

// Sets the route's own answer, after the limits, in the place of an upstream's.
Exchange::Next Exchange::respond() {
    fail(route().answer->status, {}, observe::Outcome::responded);
    return Next::reply;
}

// Redirects to https, before routes and limits.
void Exchange::send_to_https() {
    if (stream_.head().authority.empty())
        return fail(400, std::string{admission::no_host}, observe::Outcome::rejected);
    fail(to_https().status, {}, observe::Outcome::responded);
}

// Makes the answer of Outcome::responded: the route's, or the listener's before any route.
void Exchange::make_answer(const http::ReplyContext& context) {
    PlaceholderValues values = placeholder_values();
    const FixedAnswer& answer = has_route() ? *route().answer : to_https();
    if (!answer.location.empty())
        add_target(values);
    http::make_fixed_reply(context_.response, context, answer, values);
}

// Sets the placeholders of a redirect.
void Exchange::add_target(PlaceholderValues& values) {
    const std::string_view path = stream_.head().path;
    std::string_view sent = has_route() ? path_to_send(path) : std::string_view{};
    if (sent.empty())
        sent = path;
    values[Placeholder::path] = sent.starts_with('/') ? sent : std::string_view{"/"}; // "*"
    const std::string_view target = stream_.head().target;
    const std::size_t query = target.find('?');
    if (query != std::string_view::npos)
        values[Placeholder::query] = target.substr(query);
    const std::uint16_t port = stream_.connection().https_port;
    if (has_route() || port == 443)
        return;
    std::string& host = context_.scratch.host;
    if (values[Placeholder::host].data() != host.data())
        host = values[Placeholder::host];
    values[Placeholder::host] = host.append(":").append(std::to_string(port));
}

} // namespace stint::proxy
