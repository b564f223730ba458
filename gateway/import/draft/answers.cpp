// Routes that answer by themselves, as `return` does.
#include "config/values/placeholders.hpp"
#include "import/draft/route_context.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace stint::import_nginx {

namespace {

bool names_variable(std::string_view text, std::string_view name) {
    return std::ranges::any_of(pieces_of(text), [name](const Piece& piece) {
        return piece.variable && piece.text == name;
    });
}

} // namespace

// Adds the answer of `return`.
void Routes::answer(const Context& context, const Directive& by, Node& body) {
    constexpr std::array<std::uint64_t, 5> redirects{301, 302, 303, 307, 308};
    const auto number = number_of(by.args.front());
    const std::uint64_t status = number.value_or(302);
    const std::string text = by.args.size() > 1 ? by.args[1] : number ? "" : by.args.front();
    if (std::ranges::find(redirects, status) != redirects.end() && !text.empty()) {
        const std::string to = redirect_target(text, context.server_name, context.hosted.scheme);
        if (to.empty()) {
            report_.lose(by, "has a target that Stint cannot write; the draft answers 404");
            return refuse(404, context.settings, body);
        }
        if (names_variable(text, "http_host"))
            report_.lose(by, "$http_host has the client's port, which {host} has not");
        lose_headers(context.settings, report_);
        Node redirect = Node::map();
        redirect.add("to", Node::text(to)).add("status", Node::number(status));
        return void(body.add("redirect", redirect.flow()));
    }
    if (status < 200 || status > 599 || status == 444) {
        report_.lose(by, "Stint closes no connection without an answer; the draft answers 404");
        return refuse(404, context.settings, body);
    }
    Node respond = Node::map();
    respond.add("status", Node::number(status));
    bool whole = true;
    const std::string content = body_text(text, context.server_name, whole);
    const bool without_body = status == 204 || status == 205 || status == 304;
    if (!whole || (without_body && !content.empty()))
        report_.lose(by, "has a text with what Stint has no placeholder for; left out");
    if (!content.empty() && !without_body && whole) {
        const std::string& type = context.settings.content_type;
        respond.add("body", Node::text(content));
        if (config::parse_content_type(type))
            respond.add("content_type", Node::text(type));
    }
    Node headers = answer_headers(context.settings, status, report_);
    if (!headers.empty())
        respond.add("headers", headers.flow());
    body.add("respond", respond.flow());
}

} // namespace stint::import_nginx
