#include "proxy/response/local_response.hpp"

#include "http/fixed_reply.hpp"
#include "http/grpc_reply.hpp"
#include "http/media_type.hpp"
#include "net/clock.hpp"
#include "proxy/forward/shaping.hpp"

#include <string>

namespace stint::proxy {
namespace {

// Redirects to https. With status 308 the client repeats its method and body there (RFC 9110
// section 15.4.9).
const FixedAnswer& to_https() {
    static const FixedAnswer answer{
        .status = 308,
        .content_type = {},
        .body = {},
        .fields = {},
        .location = TextTemplate{"https://{host}{path}{?query}"}};
    return answer;
}

// Sets the placeholders of a redirect.
void add_target(const Request& request, PlaceholderValues& values) {
    const std::string_view path = request.head().path;
    std::string_view sent = request.has_route() ? path_to_send(request, path) : std::string_view{};
    if (sent.empty())
        sent = path;
    // The path of a redirect is "/" for the target "*".
    values[Placeholder::path] = sent.starts_with('/') ? sent : std::string_view{"/"};
    const std::string_view target = request.head().target;
    const std::size_t query = target.find('?');
    if (query != std::string_view::npos)
        values[Placeholder::query] = target.substr(query);
    const std::uint16_t port = request.stream().connection().https_port;
    if (request.has_route() || port == 443)
        return;
    std::string& host = request.context().scratch.host;
    if (values[Placeholder::host].data() != host.data())
        host = values[Placeholder::host];
    values[Placeholder::host] = host.append(":").append(std::to_string(port));
}

// Makes the response of Outcome::responded: the route's fixed answer, or without a route the
// listener's redirect to https.
void make_configured(const Request& request, const http::ReplyContext& context) {
    PlaceholderValues values = placeholder_values(request);
    const FixedAnswer& answer = request.has_route() ? *request.route().answer : to_https();
    if (!answer.location.empty())
        add_target(request, values);
    http::make_fixed_reply(request.context().response, context, answer, values);
}

// True if the client understands replies in the form of gRPC.
bool speaks_grpc(const Request& request) {
    return request.head().http2 && http::is_grpc(request.head().fields);
}

http::GrpcRefusal grpc_refusal(Request& request) {
    const admission::LocalReply& reply = request.admission().reply();
    http::GrpcRefusal refusal{
        .code = http::grpc_code_of(request.record().status()), .retry_after = reply.retry_after()};
    if (!reply.is_by_limit())
        return refusal;
    const routing::RouteShapePtr& shape = request.route().shape;
    refusal.code = shape != nullptr && shape->grpc_unavailable ? http::GrpcCode::unavailable
                                                               : http::GrpcCode::resource_exhausted;
    refusal.never = !refusal.retry_after;
    return refusal;
}

} // namespace

void make_local_response(Request& request) {
    Context& context = request.context();
    RequestRecord& record = request.record();
    admission::RequestAdmission& admission = request.admission();
    record.name(context.request_ids); // a head that could not be read has brought no id
    const bool responds = record.outcome() == observe::Outcome::responded;
    const bool grpc = !responds && record.status() >= 400 && speaks_grpc(request);
    if (grpc) [[unlikely]] {
        admission.reply().use(http::MediaType::plain);
        admission.reply().leave_out_own_body();
    } else if (!responds && !admission.reply().knows_media()) {
        admission.reply().use(http::preferred_media_type(request.head().fields));
    }
    http::ReplyContext reply{.request_id = record.id()};
    if (!admission.headers().empty()) {
        // A refusal's decision was made a moment ago: the clock is not read again.
        const bool just_decided = record.outcome() == observe::Outcome::refused;
        const SteadyTime now = just_decided ? admission.decided().steady : net::read_steady_clock();
        reply.policies =
            admission.headers().fields(request.route().telling, {now, record.wall_at(now)});
    }
    if (responds) [[unlikely]]
        make_configured(request, reply);
    else
        admission.reply().make(context.response, reply, record.status());
    if (grpc) [[unlikely]]
        http::turn_into_grpc(context.response, grpc_refusal(request));
}

void redirect_to_https(Request& request) {
    if (request.head().authority.empty())
        return request.fail(400, std::string{admission::no_host}, observe::Outcome::rejected);
    request.fail(to_https().status, {}, observe::Outcome::responded);
}

} // namespace stint::proxy
