#include "http/request_tokens.hpp"

#include "http/ascii.hpp"
#include "http/max_forwards.hpp"
#include "http/request_line.hpp"

namespace stint::http {
namespace {

// Applies the rules for TRACE bodies and Max-Forwards, which depend on the method.
Result<void, HeadError> heed_method(RequestHead& request) noexcept {
    if (request.framing.has_body() && ascii::equals_folded(request.method, "trace"))
        return HeadError{400, "TRACE has a body."};
    if (request.ids.contains(FieldId::max_forwards)) [[unlikely]] {
        const auto hops = read_max_forwards(request.method, request.fields);
        if (!hops)
            return hops.error();
        request.max_forwards = *hops;
    }
    return {};
}

} // namespace

Result<void, HeadError> judge_request(
    const RequestTokens& tokens,
    std::span<const Field> fields,
    std::string_view no_authority,
    RequestHead& request) noexcept {
    const ControlFields& control = tokens.control;
    const auto target = split_target(tokens.method, tokens.target);
    if (!target)
        return target.error();
    auto framing = request_framing(control, tokens.minor_version);
    if (!framing)
        return framing.error();
    if (tokens.body_follows && framing->kind == BodyFraming::Kind::none)
        framing->kind = BodyFraming::Kind::chunked;
    const auto host = host_field(control, tokens.minor_version);
    if (!host)
        return host.error();
    const auto keep_alive = keeps_alive(control, fields, tokens.minor_version);
    if (!keep_alive)
        return keep_alive.error();
    const auto expects = expects_continue(control, tokens.minor_version);
    if (!expects)
        return expects.error();

    request.method = tokens.method;
    request.target = tokens.target;
    request.path = target->path;
    request.query = target->query;
    request.authority = !target->authority.empty() ? target->authority
                        : host->data() != nullptr  ? *host
                                                   : no_authority;
    request.minor_version = tokens.minor_version;
    request.framing = *framing;
    request.keep_alive = *keep_alive;
    request.expects_continue = *expects && framing->has_body();
    request.ids = tokens.ids;
    request.fields = fields;
    return heed_method(request);
}

} // namespace stint::http
