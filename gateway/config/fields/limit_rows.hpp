// Rows of keys that both limits and locks have: about queueing and refusals.
#pragma once

#include "config/fields/shared_rows.hpp"

#include <array>
#include <string_view>

namespace stint::config {

inline constexpr std::array<std::string_view, 2> when_exceeded_words{"refuse", "wait"};
inline constexpr std::array<std::string_view, 2> retry_after_words{"reset", "reserve"};
inline constexpr std::array<std::string_view, 4> header_field_words{
    "off", "draft", "legacy", "both"};
inline constexpr std::string_view some_header_fields = "off, draft, legacy or both";
inline constexpr FieldType a_key_source{
    .kind = FieldType::Kind::text, .name = "source of a key, or list of them"};

inline constexpr FieldOf<Limit> when_exceeded_row = Fields<Limit>::other(
    {.key = "when_exceeded",
     .about = "A request beyond the limit gets 429, or is queued until its turn comes.",
     .expected = "refuse or wait",
     .otherwise = "`refuse`"},
    {.kind = FieldType::Kind::word, .words = when_exceeded_words},
    nullptr,
    [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
        if (limit.wait)
            add(members, field.key, "wait");
    });

inline constexpr FieldOf<Limit> max_wait_row = Fields<Limit>::shown_by(
    Fields<Limit>::later(
        Fields<Limit>::duration<[](auto& limit) -> auto& { return limit.wait->max_wait; }>(
            {.key = "max_wait",
             .about = "The longest time that a request may wait. Only with when_exceeded: wait.",
             .expected = "a duration such as 2s"})),
    [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
        if (limit.wait)
            add(members, field.key, limit.wait->max_wait);
    });

inline constexpr FieldOf<Limit> fair_by_row = Fields<Limit>::later(Fields<Limit>::other(
    {.key = "fair_by",
     .about =
         "Waiting requests with the same value share their turns. Only with when_exceeded: wait.",
     .otherwise = "`client_ip`"},
    a_key_source,
    [](const Field&, const Value& value, Limit& limit, LoadState&) {
        limit.wait->fair_by.clear();
        read_key_sources(value, limit.wait->fair_by);
    },
    [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
        if (limit.wait)
            add(members, field.key, shown_sources(limit.wait->fair_by));
    }));

inline constexpr FieldOf<Limit> limit_headers_row = Fields<Limit>::word<&Limit::headers>(
    {.key = "headers",
     .about = "Which response fields report it to clients.",
     .expected = some_header_fields,
     .otherwise = "the route's"},
    header_field_words);

inline constexpr FieldOf<Limit> status_row = Fields<Limit>::number<&Limit::status>(
    {.key = "status", .about = "Status of a refusal.", .expected = "a status such as 503"},
    400,
    599);

inline constexpr FieldOf<Limit> body_row = Fields<Limit>::map(
    {.key = "body",
     .about = "Body of a refusal: a text of at most 16 KiB, or a map with its content type.",
     .otherwise = "a problem document"},
    "text, or map",
    [](const Field&, const Value& value, Limit& limit, LoadState& loading) {
        read_refusal_body(value, limit, loading);
    },
    [](const Field& field, const Limit& limit, const Config& config, Shown::Map& members) {
        if (limit.body)
            add(members, field.key, shown(body_fields(), *limit.body, config));
    });

inline constexpr FieldOf<Limit> retry_after_jitter_row = Fields<Limit>::shown_by(
    Fields<Limit>::duration<&Limit::retry_after_jitter>(
        {.key = "retry_after_jitter",
         .about = "A random time from zero to this value is added to each Retry-After.",
         .expected = "a duration such as 5s",
         .otherwise = "none"}),
    [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
        if (limit.retry_after_jitter.count() > 0)
            add(members, field.key, limit.retry_after_jitter);
    });

} // namespace stint::config
