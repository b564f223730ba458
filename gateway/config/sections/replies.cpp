// Reads the rate-limit headers of responses, and the settings of a limit's refusals.
#include "base/placeholders.hpp"
#include "config/fields/limit_rows.hpp"
#include "config/values/placeholders.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::size_t longest_reply = 16 * 1024;

constexpr std::array<std::string_view, 2> legacy_prefixes{"X-RateLimit", "RateLimit"};
constexpr std::array<std::string_view, 2> resets{"delta", "epoch"};
constexpr std::string_view default_content_type = "text/plain; charset=utf-8";

using HeadersRow = Fields<Headers>;
constexpr std::array header_table{
    HeadersRow::word<&Headers::fields>(
        {.key = "fields",
         .about =
             "RateLimit and RateLimit-Policy (draft), the three X-RateLimit fields (legacy), or "
             "both.",
         .expected = some_header_fields},
        header_field_words),
    HeadersRow::word<&Headers::prefix>(
        {.key = "legacy_prefix",
         .about = "The beginning of the names of the three legacy fields.",
         .expected = "X-RateLimit or RateLimit"},
        legacy_prefixes),
    HeadersRow::word<&Headers::reset>(
        {.key = "legacy_reset",
         .about = "Reset counts seconds from now, or is Unix time.",
         .expected = "delta or epoch"},
        resets),
};

Parsed<std::string> parse_body(std::string_view text) {
    if (text.size() > longest_reply)
        return ParseError{"the body is longer than 16 KiB"};
    if (std::string fault = placeholder_fault(text, reply_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    return std::string{text};
}

using BodyRow = Fields<OwnBody>;
constexpr std::array body_table{
    BodyRow::text<&OwnBody::content_type, &parse_content_type>(
        {.key = "content_type",
         .about = "Its type.",
         .expected = "a content type",
         .otherwise = "`text/plain; charset=utf-8`"},
        "content type"),
    BodyRow::other(
        {.key = "text",
         .about =
             "The text; {retry_after}, {retry_after_ms}, {limit} and {request_id} are substituted.",
         .expected = "what the answer says",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "text"},
        [](const Field&, const Value& value, OwnBody& body, LoadState&) {
            value.into(body.text, "a text", parse_body);
        },
        [](const Field& field, const OwnBody& body, const Config&, Shown::Map& members) {
            add(members, field.key, body.text);
        }),
};

// Returns the setting that prevents a limit from reserving slots (retry_after: reserve); empty if
// nothing does. Reservations need consecutive windows of equal length and no pacing.
std::string_view cannot_reserve(const Limit& limit) {
    if (limit.kind == Limit::Kind::cap)
        return "a cap, which has no windows";
    if (limit.algorithm == Limit::Algorithm::sliding_window)
        return "algorithm: sliding_window";
    if (limit.algorithm == Limit::Algorithm::token_bucket)
        return "algorithm: token_bucket";
    if (limit.calendar)
        return "per: day, week or month";
    if (limit.pace)
        return "pace: true";
    return {};
}

} // namespace

Table<Headers> header_fields() {
    return header_table;
}

void read_headers(const Value& value, Headers& headers, LoadState& loading) {
    if (value.is_scalar())
        return header_table.front().read(header_table.front(), value, headers, loading);
    const auto section = open_section(
        value, header_fields(), "off, draft, legacy, both or a map such as {fields: both}");
    if (section)
        read_fields(*section, header_fields(), headers, loading);
}

Table<OwnBody> body_fields() {
    return body_table;
}

void read_refusal_body(const Value& value, Limit& limit, LoadState& loading) {
    OwnBody body{std::string{default_content_type}, {}};
    if (value.is_scalar())
        value.into(body.text, "a text", parse_body);
    else if (
        const auto section = open_section(
            value, body_fields(), "a text or a map such as {content_type: text/html, text: …}"))
        read_fields(*section, body_fields(), body, loading);
    limit.body = std::move(body);
}

void read_reserving(const Section& section, Limit& limit) {
    std::string chosen = "reset";
    if (const auto retry_after = section.find("retry_after"))
        retry_after->into(chosen, "reset or reserve", [](std::string_view text) {
            return parse_word(text, retry_after_words);
        });
    if (chosen == "reset") {
        section.wrong_at("reserve_for", "is only for a limit with retry_after: reserve");
        return;
    }
    if (const std::string_view why = cannot_reserve(limit); !why.empty())
        section.wrong_at(
            "retry_after", std::string{"reserve is not for "}.append(why).append(
                               "; expected a window (requests, per: a duration) with "
                               "algorithm: fixed_window and without pace"));
    if (limit.wait)
        section.wrong_at("retry_after", "reserve excludes when_exceeded: wait; keep one of them");
    section.wrong_at(
        "retry_after_jitter", "is not for retry_after: reserve, which spreads clients by itself");
    limit.reserve_for = {KeySource{}}; // the default is client_ip
    if (const auto reserve_for = section.find("reserve_for")) {
        limit.reserve_for.clear();
        read_key_sources(*reserve_for, limit.reserve_for);
    }
}

} // namespace stint::config
