// Decides on a request by its head: parse, route, admit. No I/O: only prepares what is to be sent.
#include "http/framing.hpp"
#include "http/head_parser.hpp"
#include "http/media_type.hpp"
#include "http/trailers.hpp"
#include "limits/limit.hpp"
#include "net/clock.hpp"
#include "proxy/admission/find_route.hpp"
#include "proxy/admission/key_recorder.hpp"
#include "proxy/admission/limit_steps.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

namespace stint::proxy {
namespace {

// Returns the header that names the client, unless it is one of those that are always replaced.
std::string_view own_client_field(const routing::TrustedProxies& trusted) noexcept {
    if (trusted.empty() || trusted.header == "x-forwarded-for" || trusted.header == "forwarded")
        return {};
    return trusted.header;
}

} // namespace

Exchange::Next Exchange::decide(std::string_view head) {
    head_ = head;
    consumed_ = head.size();
    const auto request = context_.parser.parse_request(
        head, {.max_target = snapshot().max_target, .max_fields = snapshot().max_fields});
    if (!request) {
        const http::HeadError& error = request.error();
        fail(error.status, std::string{error.detail}, observe::Outcome::rejected);
        return Next::reply;
    }
    remember(*request);
    if (!snapshot().trusted.empty()) [[unlikely]]
        find_client(*request);
    routing::KeyFacts facts = facts_of(*request);
    Next next = Next::reply;
    if (downstream_.https_port() != 0) [[unlikely]] {
        if (take_buffered_body())
            send_to_https();
        return Next::reply;
    }
    if (take_buffered_body() && select_route(*request, facts) && body_fits(*request) &&
        may_go_on(*request, facts) && (route_->fence == nullptr || check_fencing_token(*request)))
        [[likely]]
        next = route_->cooldown.set ? look_at_cooldown(facts) : Next::forward;
    if (next == Next::forward) [[likely]]
        next = admit(facts);
    if (next == Next::forward && route_->answer != nullptr) [[unlikely]]
        next = respond();
    if (next != Next::reply && cluster_ != nullptr && cluster_->by_hash()) [[unlikely]]
        note_endpoint_key(facts);
    if (next == Next::forward) [[likely]]
        write_request_head(*request);
    if (next == Next::reply)
        reply_.use(http::preferred_media_type(request->fields));
    return next;
}

void Exchange::remember(const RequestHead& head) {
    method_ = head.method;
    target_ = head.target;
    host_ = head.authority;
    minor_ = head.minor_version;
    client_keeps_ = head.keep_alive;
    expects_continue_ = head.expects_continue && minor_ > 0;
    shows_permit_ = head.ids.contains(FieldId::x_stint_permit);
    request_framing_ = head.framing.kind;
    request_body_ = http::BodyDecoder{head.framing};
    body_left_ = head.framing.length;
    if (head.ids.contains(FieldId::x_request_id) || !snapshot().log_fields.empty())
        note_fields(head.fields);
    name_request();
}

void Exchange::note_fields(std::span<const Field> fields) {
    for (const Field& field : fields) {
        if (field.id == FieldId::x_request_id && request_id_.empty() &&
            http::well_formed_request_id(field.value))
            request_id_ = field.value;
        for (const std::string& wanted : snapshot().log_fields)
            if (boost::algorithm::iequals(field.name, wanted))
                logged_.push_back({wanted, field.value});
    }
}

void Exchange::name_request() {
    if (!request_id_.empty())
        return;
    made_id_ = context_.request_ids.make(begun_.wall);
    request_id_ = {made_id_.data(), made_id_.size()};
}

// Finds the client behind trusted proxies. An untrusted peer is the client, whatever it says.
void Exchange::find_client(const RequestHead& head) {
    const routing::TrustedProxies& trusted = snapshot().trusted;
    const IpAddress& peer = downstream_.peer().address();
    peer_is_trusted_ = trusted.contains(peer);
    if (!peer_is_trusted_)
        return;
    const IpAddress client = routing::client_behind(peer, head.fields, trusted);
    if (client != peer)
        client_ = &client_behind_.emplace(client, context_.shared.hasher);
}

// Decodes what has arrived of the body. Moves the payload together but leaves the head as it is.
bool Exchange::take_buffered_body() {
    const std::span<char> rest = downstream_.received().subspan(head_.size());
    const auto step = request_body_.decode(rest);
    if (!step) {
        fail(400, std::string{step.error().detail}, observe::Outcome::rejected);
        client_keeps_ = false;
        return false;
    }
    buffered_body_ = {rest.data(), step->payload};
    consumed_ += step->consumed;
    bytes_in_ += step->payload;
    body_left_ -= std::min<std::uint64_t>(body_left_, step->payload);
    return true;
}

// Returns all facts but those that depend on the request's path.
routing::KeyFacts Exchange::facts_of(const RequestHead& head) const {
    return {
        .client = *client_,
        .hasher = context_.shared.hasher,
        .fields = head.fields,
        .query = head.query,
        .method = head.method,
        .tls_subject = downstream_.tls_subject()};
}

bool Exchange::select_route(const RequestHead& head, routing::KeyFacts& facts) {
    const auto found = find_route(snapshot(), head, context_.host_scratch, context_.path_scratch);
    if (!found) {
        fail(found.error().status, std::string{found.error().detail}, observe::Outcome::rejected);
        client_keeps_ = false;
        return false;
    }
    if (asks_forward_proxy(snapshot(), head, found->host)) [[unlikely]] {
        fail(
            no_forward_proxy.status, std::string{no_forward_proxy.detail},
            observe::Outcome::rejected);
        return false;
    }
    const routing::MatchResult& match = found->match;
    if (match.route != nullptr) {
        route_ = match.route;
        if (route_->answer == nullptr) [[likely]]
            cluster_ = &config_->clusters[route_->upstream];
        facts.host = found->host;
        facts.path = found->path;
        facts.route = route_->name;
        forward_path_ = found->forward_path;
        ++context_.counters.routes[route_->metric].in_flight;
        return true;
    }
    if (match.path_matched) {
        reply_.refuse_method(snapshot().routes.allowed_methods(found->host, found->path));
        end_as(405, observe::Outcome::rejected);
    } else {
        fail(404, "no route takes this host and path", observe::Outcome::no_route);
    }
    return false;
}

// Checks the body's length before any charge: a body that is too long is never served or read on.
bool Exchange::body_fits(const RequestHead& head) {
    if (head.framing.length <= route_->max_body && bytes_in_ <= route_->max_body) [[likely]]
        return true;
    fail(413, std::string{body_too_long}, observe::Outcome::rejected);
    client_keeps_ = false;
    return false;
}

// Decides whether Max-Forwards lets OPTIONS and TRACE go on (RFC 9110 section 7.6.2). If not,
// OPTIONS is answered with the methods that the path serves. The answer to TRACE would be the
// request itself, with fields of other proxies that are not for the client to see: 501.
bool Exchange::may_go_on(const RequestHead& head, const routing::KeyFacts& facts) {
    if (head.max_forwards != 0U) [[likely]] // absent, or more
        return true;
    if (head.method == "OPTIONS") {
        reply_.answer_options(snapshot().routes.allowed_methods(facts.host, facts.path));
        end_as(200, observe::Outcome::rejected);
    } else {
        fail(
            501, "Max-Forwards ends this TRACE here, and Stint answers none itself",
            observe::Outcome::rejected);
    }
    return false;
}

Exchange::Next Exchange::admit(const routing::KeyFacts& facts) {
    if (route_->limits.empty())
        return Next::forward;
    recent_ = context_.recent.begin(request_id_, begun_.wall, route_->metric);
    KeyRecorder noted{*config_, context_.recent, decided_.steady};
    routing::Charges charges = routing::charges_of(*route_, facts, context_.key_scratch, &noted);
    if (charges.exempt != 0) [[unlikely]]
        count_exempt(context_.counters, *route_, charges);
    if (charges.denied_by != nullptr) [[unlikely]] {
        deny(*charges.denied_by, charges.denial);
        return Next::reply;
    }
    if (shows_permit_ && !charges.charges.empty()) [[unlikely]]
        leave_out_prepaid(charges, facts.fields);
    if (charges.charges.empty()) {
        spend_prepaid();
        return Next::forward;
    }
    if (route_->settles) [[unlikely]]
        settlement_.expect(charges);
    if (route_->cooldown.rules.waits) [[unlikely]]
        for (limits::Charge& each : charges.charges)
            each.refundable = true; // a pause may begin before it has been sent
    if (route_->waits) [[unlikely]]
        return admit_in_turn(charges, facts);
    if (route_->reserves) [[unlikely]]
        return admit_reserving(charges, facts);
    limits::Decision decision = route_->telling.any ? rate_limit_headers_.admit(charges, decided_)
                                                    : limits::admit(charges.view(), decided_);
    if (!decision.allowed()) {
        refuse(charges, decision);
        return Next::reply;
    }
    accept_admission(decision, charges);
    return Next::forward;
}

// Writes the upstream request's head; after a wait, or for a retry, as it was the first time.
void Exchange::write_request_head(const RequestHead& head) {
    const std::string_view offer =
        head.ids.contains(FieldId::upgrade) ? offer_of(head) : std::string_view{};
    takes_trailers_ = head.ids.contains(FieldId::te) && http::takes_trailers(head);
    std::string_view path;
    std::string_view host = snapshot().upstreams[route_->upstream].host;
    if (forward_path_ || route_->shape != nullptr) [[unlikely]] {
        path = path_to_send(head.path);
        host = host_to_send();
    }
    if (host_.empty() && host.empty()) [[unlikely]]
        host = endpoint_authority();
    const std::optional<http::Shaping> shape =
        route_->shape == nullptr ? std::nullopt : shaping(&routing::RouteShape::request);
    context_.head_out.clear();
    http::write_upstream_head(
        context_.head_out, head,
        {.peer_address = downstream_.peer().text(),
         .scheme = downstream_.secure() ? std::string_view{"https"} : std::string_view{"http"},
         .host = host,
         .request_id = request_id_,
         .peer_is_trusted = peer_is_trusted_,
         .client_field = own_client_field(snapshot().trusted),
         .upgrade = offer,
         .trailers = takes_trailers_ && http::has_connection_option(head.fields, "te"),
         .path = path,
         .forwarded = snapshot().forwarded,
         .protected_fields = snapshot().protected_fields,
         .shaping = shape ? &*shape : nullptr,
         .trusted_fields = &snapshot().trusted_fields});
}

void Exchange::end_as(int status, observe::Outcome outcome) noexcept {
    status_ = status;
    outcome_ = outcome;
}

// Fails the request. detail: for logs alone if the upstream failed, else for the client.
void Exchange::fail(int status, std::string detail, observe::Outcome outcome) {
    end_as(status, outcome);
    if (outcome != observe::Outcome::upstream_failed)
        return reply_.explain(std::move(detail));
    reply_.blame_upstream(std::move(detail));
    endpoint_failed(reply_.upstream_error());
    if (context_.shared.upstream_failures_logged.pass(net::read_steady_clock()))
        spdlog::warn("request {}: {}", request_id_, reply_.upstream_error());
}

} // namespace stint::proxy
