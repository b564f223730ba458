// A route's action: an upstream, or a response of Stint's own (respond, redirect).
#include "base/text_template.hpp"
#include "config/sections/section_readers.hpp"
#include "config/values/match_values.hpp"
#include "config/values/placeholders.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

constexpr std::size_t longest_body = 64 * 1024;
constexpr std::size_t longest_target = 2048;
constexpr std::array<std::string_view, 4> respond_keys{"status", "body", "headers", "content_type"};
constexpr std::array<std::string_view, 2> redirect_keys{"to", "status"};
constexpr std::array<std::string_view, 5> redirect_statuses{"301", "302", "303", "307", "308"};
constexpr std::array<std::string_view, 6> upstream_only{"cooldown", "host",  "request",
                                                        "response", "retry", "upgrade"};
constexpr std::string_view a_target = "where to, such as https://shop.example{path}{?query}";

bool is_uri_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"-._~:/?#[]@!$&'()*+,;=%"}.find(c) != std::string_view::npos;
}

// Returns the target with harmless text in place of its placeholders.
std::string filled_in(std::string_view text) {
    std::string filled{text};
    for (const std::string_view placeholder : target_placeholders) {
        const std::string_view sample = placeholder == "{path}"     ? "/x"
                                        : placeholder == "{?query}" ? "?x"
                                                                    : "x";
        for (std::size_t at = 0; (at = filled.find(placeholder)) != std::string::npos;)
            filled.replace(at, placeholder.size(), sample);
    }
    return filled;
}

// True if a host follows the scheme: "", ":80" and "user@" have none.
bool leads_to_host(std::string_view behind_scheme) {
    std::string_view host = behind_scheme.substr(0, behind_scheme.find_first_of("/?#"));
    host.remove_prefix(host.rfind('@') + 1); // npos + 1 is 0
    return !host.empty() && !host.starts_with(':');
}

Parsed<std::string> parse_redirect_target(std::string_view text) {
    if (text.size() > longest_target)
        return ParseError{"the target is longer than 2 KiB"};
    if (std::string fault = placeholder_fault(text, target_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    const std::string target = filled_in(text);
    if (!std::all_of(target.begin(), target.end(), is_uri_character))
        return ParseError{in_quotes(text) + " has a character that must be percent-encoded"};
    const bool path = target.starts_with('/') && !target.starts_with("//");
    const std::size_t scheme = target.starts_with("https://")  ? 8
                               : target.starts_with("http://") ? 7
                                                               : 0;
    const bool whole = scheme > 0 && leads_to_host(std::string_view{target}.substr(scheme));
    if (path || whole)
        return std::string{text};
    return ParseError{
        in_quotes(text) + " is no target; expected a path, or http:// or https:// and a "
                          "host, such as https://shop.example{path}{?query}"};
}

Parsed<int> parse_redirect_status(std::string_view text) {
    const auto word = parse_word(text, redirect_statuses);
    if (!word)
        return word.error();
    return std::stoi(*word);
}

void read_respond(const Value& value, Answer& answer, const LoadState& loading) {
    const auto section =
        Section::open(value, respond_keys, "a map such as {status: 200, body: hello}");
    if (!section)
        return;
    if (const auto status = section->find("status"))
        status->into(
            answer.status, "a status such as 200", [](std::string_view text) -> Parsed<int> {
                const auto number = parse_count(text, 200, 599);
                if (!number)
                    return number.error();
                return static_cast<int>(*number);
            });
    const auto body = section->find("body");
    if (body)
        body->into(answer.body, "a text", [](std::string_view text) {
            return parse_answer_text(text, longest_body);
        });
    if (body && (answer.status == 204 || answer.status == 205 || answer.status == 304))
        section->wrong_at(
            "body", "is not for the status " + std::to_string(answer.status) + ", which has none");
    if (!answer.body.empty())
        answer.content_type = "text/plain; charset=utf-8";
    if (const auto type = section->find("content_type"))
        type->into(answer.content_type, "a content type", parse_content_type);
    FieldEdits edits;
    if (const auto headers = section->find("headers"))
        read_set_headers(*headers, EditedHead::answer, edits, loading);
    answer.headers = std::move(edits.set);
}

void read_redirect(const Value& value, Answer& answer) {
    answer.status = 308;
    if (value.is_scalar())
        return value.into(answer.location, a_target, parse_redirect_target);
    const auto section =
        Section::open(value, redirect_keys, "a target, or a map such as {to: /new, status: 301}");
    if (!section)
        return;
    if (const auto to = section->require("to", a_target))
        to->into(answer.location, a_target, parse_redirect_target);
    if (const auto status = section->find("status"))
        status->into(answer.status, "301, 302, 303, 307 or 308", parse_redirect_status);
}

void read_upstream_name(const Section& section, Route& route, LoadState& loading) {
    const auto upstream =
        section.require("upstream", "the name of an upstream, or respond or redirect");
    if (!upstream)
        return;
    if (const auto name = upstream->scalar("the name of an upstream"))
        route.upstream = find_name(*upstream, *name, loading.upstreams, "an upstream").value_or(0);
}

} // namespace

void read_action(const Section& section, Route& route, LoadState& loading) {
    const auto respond = section.find("respond");
    const auto redirect = section.find("redirect");
    if (!respond && !redirect)
        return read_upstream_name(section, route, loading);
    const std::string_view kept = respond ? "respond" : "redirect";
    const std::string excludes = std::string{"excludes "}.append(kept).append("; keep one of them");
    section.wrong_at("upstream", excludes);
    if (respond && redirect)
        section.wrong_at("redirect", excludes);
    for (const std::string_view key : upstream_only)
        section.wrong_at(key, "needs an upstream, and the route has none");
    Answer& answer = route.answer.emplace();
    if (respond) {
        section.wrong_at("strip_prefix", "is not for respond, which sends no path");
        section.wrong_at("rewrite", "is not for respond, which sends no path");
        read_respond(*respond, answer, loading);
    } else {
        read_redirect(*redirect, answer);
    }
}

} // namespace stint::config
