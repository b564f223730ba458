// Decides on a request by its head: parse, route, admit. No I/O: only prepares what is to be sent.
#include "http/framing.hpp"
#include "http/trailers.hpp"
#include "net/clock.hpp"
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

Exchange::Next Exchange::decide() {
    const RequestHead& head = stream_.head();
    remember(head);
    if (stream_.connection().https_port != 0) [[unlikely]] {
        send_to_https();
        return Next::reply;
    }
    routing::KeyFacts facts = facts_of(head);
    callbacks_.name(request_id_, begun_.wall);
    Next next = next_of(admission_.decide(head, facts, stream_.bytes_in(), begun_));
    if (has_route()) [[likely]] {
        route_in_flight_.enter(context_.counters, route().metric);
        if (route().answer == nullptr) [[likely]]
            cluster_ = &config_->clusters[route().upstream];
    }
    if (next == Next::wait_cooldown) [[unlikely]] {
        next = enqueue_for_cooldown(begun_.steady);
        if (next == Next::forward)
            next = next_of(admission_.admit(facts));
    }
    if (next != Next::reply && cluster_ != nullptr && cluster_->by_hash()) [[unlikely]]
        note_endpoint_key(facts);
    if (next == Next::forward) [[likely]]
        write_request_head(head);
    return next;
}

// Takes the decision over: its reply has the status and the outcome of the request.
Exchange::Next Exchange::next_of(admission::Next decided) {
    switch (decided) {
    case admission::Next::forward:
        return Next::forward;
    case admission::Next::respond:
        return respond();
    case admission::Next::wait_queue:
        return Next::wait;
    case admission::Next::wait_cooldown:
        return Next::wait_cooldown;
    case admission::Next::wait_shared: // there are no shared counters yet
    case admission::Next::reply:
        break;
    }
    if (admission_.ends_connection())
        stream_.close_after();
    end_as(admission_.status(), admission_.outcome());
    return Next::reply;
}

void Exchange::remember(const RequestHead& head) {
    if (head.ids.contains(FieldId::x_request_id) || !snapshot().log_fields.empty())
        note_fields(head.fields);
    name_request();
    if (!snapshot().trusted.empty()) [[unlikely]]
        find_client(head);
}

void Exchange::note_fields(std::span<const Field> fields) {
    request_id_ = http::shown_request_id(fields);
    for (const Field& field : fields)
        for (const std::string& wanted : snapshot().log_fields)
            if (boost::algorithm::iequals(field.name, wanted))
                logged_.push_back({wanted, field.value});
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
    const IpAddress& peer = stream_.connection().peer->address();
    peer_is_trusted_ = trusted.contains(peer);
    if (!peer_is_trusted_)
        return;
    const IpAddress client = routing::client_behind(peer, head.fields, trusted);
    if (client != peer)
        client_ = &client_behind_.emplace(client, context_.shared().hasher);
}

routing::KeyFacts Exchange::facts_of(const RequestHead& head) const {
    return admission::facts_of(
        head, *client_, context_.shared().hasher, stream_.connection().tls_subject);
}

// Writes the upstream request's head; after a wait, or for a retry, as it was the first time.
void Exchange::write_request_head(const RequestHead& head) {
    const std::string_view offer =
        head.ids.contains(FieldId::upgrade) ? offer_of(head) : std::string_view{};
    takes_trailers_ = head.ids.contains(FieldId::te) && http::takes_trailers(head);
    std::string_view path;
    std::string_view host = snapshot().upstreams[route().upstream].host;
    if (admission_.sends_normal_path() || route().shape != nullptr) [[unlikely]] {
        path = path_to_send(head.path);
        host = host_to_send();
    }
    if (head.authority.empty() && host.empty()) [[unlikely]]
        host = endpoint_authority();
    const std::optional<http::Shaping> shape =
        route().shape == nullptr ? std::nullopt : shaping(&routing::RouteShape::request);
    context_.head_out.clear();
    http::write_upstream_head(
        context_.head_out, head,
        {.peer_address = stream_.connection().peer->text(),
         .scheme =
             stream_.connection().secure ? std::string_view{"https"} : std::string_view{"http"},
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
        return admission_.reply().explain(std::move(detail));
    admission_.reply().blame_upstream(std::move(detail));
    endpoint_failed(admission_.reply().upstream_error());
    if (context_.shared().upstream_failures_logged.pass(net::read_steady_clock()))
        spdlog::warn("request {}: {}", request_id_, admission_.reply().upstream_error());
}

} // namespace stint::proxy
