// Reads a route's action: an upstream, or a response that the route sends itself (respond,
// redirect).
#include "base/text_template.hpp"
#include "config/fields/shared_rows.hpp"
#include "config/values/bounds.hpp"
#include "config/values/match_values.hpp"
#include "config/values/placeholders.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 5> redirect_statuses{"301", "302", "303", "307", "308"};
constexpr std::array<std::string_view, 6> upstream_only{"cooldown", "host",  "request",
                                                        "response", "retry", "upgrade"};
constexpr std::string_view a_target = "where to, such as https://shop.example{path}{?query}";

Parsed<int> parse_redirect_status(std::string_view text) {
    const auto word = parse_word(text, redirect_statuses);
    if (!word)
        return word.error();
    return std::stoi(*word);
}

using AnswerRow = Fields<Answer>;
constexpr std::array respond_table{
    AnswerRow::number<&Answer::status>(
        {.key = "status", .about = "The status.", .expected = "a status such as 200"}, 200, 599),
    AnswerRow::other(
        {.key = "body",
         .about = "A text of at most 64 KiB, with the placeholders of heads. Not with 204, 205 and "
                  "304.",
         .expected = "a text",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "text"},
        [](const Field& field, const Value& value, Answer& answer, LoadState&) {
            value.into(answer.body, field.expected, [](std::string_view text) {
                return parse_answer_text(text, longest_answer);
            });
        },
        [](const Field& field, const Answer& answer, const Config&, Shown::Map& members) {
            if (!answer.body.empty())
                add(members, field.key, answer.body);
        }),
    AnswerRow::later(AnswerRow::text<&Answer::content_type, &parse_content_type>(
        {.key = "content_type",
         .about = "Type of the body; not sent without a body.",
         .expected = "a content type",
         .otherwise = "`text/plain; charset=utf-8`"},
        "content type")),
    AnswerRow::other(
        {.key = "headers", .about = "Fields of the response, as set_headers.", .otherwise = "none"},
        {.kind = FieldType::Kind::other,
         .most_items = most_edits,
         .name = "map of names and values"},
        [](const Field&, const Value& value, Answer& answer, LoadState& loading) {
            FieldEdits edits;
            read_set_headers(value, EditedHead::answer, edits, loading);
            answer.headers = std::move(edits.set);
        },
        [](const Field& field, const Answer& answer, const Config&, Shown::Map& members) {
            Shown::Map headers;
            for (const FieldEdits::Set& each : answer.headers)
                add(headers, each.name, each.value);
            if (!headers.empty())
                add(members, field.key, std::move(headers));
        }),
};

constexpr std::array redirect_table{
    AnswerRow::text<&Answer::location, &parse_redirect_target>(
        {.key = "to",
         .about = "A path, or http:// or https:// and a host; {host}, {path} and {?query} are "
                  "substituted.",
         .expected = a_target,
         .required = true},
        "path, or URI"),
    AnswerRow::other(
        {.key = "status",
         .about = "With 301 and 302 clients may change a POST to a GET.",
         .expected = "301, 302, 303, 307 or 308",
         .otherwise = "`308`"},
        {.kind = FieldType::Kind::word, .words = redirect_statuses},
        [](const Field& field, const Value& value, Answer& answer, LoadState&) {
            value.into(answer.status, field.expected, parse_redirect_status);
        },
        [](const Field& field, const Answer& answer, const Config&, Shown::Map& members) {
            add(members, field.key, answer.status);
        }),
};

void read_respond(const Value& value, Answer& answer, LoadState& loading) {
    const auto section =
        open_section(value, respond_fields(), "a map such as {status: 200, body: hello}");
    if (!section)
        return;
    read_fields(*section, respond_fields(), answer, loading);
    if (answer.status == 204 || answer.status == 205 || answer.status == 304)
        section->wrong_at(
            "body", "is not for the status " + std::to_string(answer.status) + ", which has none");
    if (!answer.body.empty())
        answer.content_type = "text/plain; charset=utf-8";
    read_field(*section, respond_fields(), "content_type", answer, loading);
}

void read_redirect(const Value& value, Answer& answer, LoadState& loading) {
    answer.status = 308;
    if (value.is_scalar())
        return value.into(answer.location, a_target, parse_redirect_target);
    const auto section = open_section(
        value, redirect_fields(), "a target, or a map such as {to: /new, status: 301}");
    if (section)
        read_fields(*section, redirect_fields(), answer, loading);
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

Table<Answer> respond_fields() {
    return respond_table;
}

Table<Answer> redirect_fields() {
    return redirect_table;
}

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
        read_redirect(*redirect, answer, loading);
    }
}

} // namespace stint::config
