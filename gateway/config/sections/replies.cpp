// Rate-limit fields of responses, and a limit's refusals.
#include "base/placeholders.hpp"
#include "config/sections/section_readers.hpp"
#include "config/values/placeholders.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::size_t longest_body = 16 * 1024;
constexpr std::uint64_t lowest_status = 400;
constexpr std::uint64_t highest_status = 599;

constexpr std::array<std::string_view, 4> field_words{"off", "draft", "legacy", "both"};
constexpr std::array<std::string_view, 3> headers_keys{"fields", "legacy_prefix", "legacy_reset"};
constexpr std::array<std::string_view, 2> prefixes{"X-RateLimit", "RateLimit"};
constexpr std::array<std::string_view, 2> resets{"delta", "epoch"};
constexpr std::array<std::string_view, 2> body_keys{"content_type", "text"};
constexpr std::array<std::string_view, 2> retry_after_words{"reset", "reserve"};
constexpr std::string_view some_fields = "off, draft, legacy or both";
constexpr std::string_view default_content_type = "text/plain; charset=utf-8";

Parsed<Headers::Fields> parse_fields(std::string_view text) {
    const auto word = parse_word(text, field_words);
    if (!word)
        return word.error();
    const auto at = std::find(field_words.begin(), field_words.end(), *word);
    return static_cast<Headers::Fields>(at - field_words.begin());
}

Parsed<Headers::Prefix> parse_prefix(std::string_view text) {
    const auto word = parse_word(text, prefixes);
    if (!word)
        return word.error();
    return *word == "RateLimit" ? Headers::Prefix::ratelimit : Headers::Prefix::x_ratelimit;
}

Parsed<Headers::Reset> parse_reset(std::string_view text) {
    const auto word = parse_word(text, resets);
    if (!word)
        return word.error();
    return *word == "epoch" ? Headers::Reset::epoch : Headers::Reset::delta;
}

Parsed<std::string> parse_body(std::string_view text) {
    if (text.size() > longest_body)
        return ParseError{"the body is longer than 16 KiB"};
    if (std::string fault = placeholder_fault(text, reply_placeholders); !fault.empty())
        return ParseError{std::move(fault)};
    return std::string{text};
}

void read_body(const Value& value, Limit& limit) {
    OwnBody body{std::string{default_content_type}, {}};
    if (value.is_scalar()) {
        value.into(body.text, "a text", parse_body);
    } else if (
        const auto section = Section::open(
            value, body_keys, "a text or a map such as {content_type: text/html, text: …}")) {
        if (const auto type = section->find("content_type"))
            type->into(body.content_type, "a content type", parse_content_type);
        if (const auto text = section->require("text", "what the answer says"))
            text->into(body.text, "a text", parse_body);
    }
    limit.body = std::move(body);
}

// Returns why such a limit cannot reserve slots; empty if it can. Slots lie in consecutive windows
// of one length and admit requests as they come.
std::string_view cannot_reserve(const Limit& limit) {
    if (limit.kind == Limit::Kind::cap)
        return "a cap, which has no windows";
    if (limit.algorithm == Limit::Algorithm::sliding_window)
        return "algorithm: sliding_window";
    if (limit.algorithm == Limit::Algorithm::token_bucket)
        return "algorithm: token_bucket";
    if (limit.unit)
        return "per: day, week or month";
    if (limit.pace)
        return "pace: true";
    return {};
}

} // namespace

void read_headers(const Value& value, Headers& headers) {
    if (value.is_scalar())
        return value.into(headers.fields, some_fields, parse_fields);
    const auto section = Section::open(
        value, headers_keys, "off, draft, legacy, both or a map such as {fields: both}");
    if (!section)
        return;
    if (const auto fields = section->find("fields"))
        fields->into(headers.fields, some_fields, parse_fields);
    if (const auto prefix = section->find("legacy_prefix"))
        prefix->into(headers.prefix, "X-RateLimit or RateLimit", parse_prefix);
    if (const auto reset = section->find("legacy_reset"))
        reset->into(headers.reset, "delta or epoch", parse_reset);
}

void read_refusal(const Section& section, Limit& limit) {
    if (const auto headers = section.find("headers"))
        if (const auto fields = headers->as(some_fields, parse_fields))
            limit.headers = *fields;
    if (const auto status = section.find("status"))
        if (const auto number = status->as("a status such as 503", [](std::string_view text) {
                return parse_count(text, lowest_status, highest_status);
            }))
            limit.status = static_cast<int>(*number);
    if (const auto body = section.find("body"))
        read_body(*body, limit);
    if (const auto jitter = section.find("retry_after_jitter"))
        jitter->into(limit.retry_after_jitter, "a duration such as 5s", parse_timeout);
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
    limit.reserve_for = {KeySource{}}; // client_ip
    if (const auto reserve_for = section.find("reserve_for")) {
        limit.reserve_for.clear();
        read_key_sources(*reserve_for, limit.reserve_for);
    }
}

} // namespace stint::config
