// Reads access_log: its target, and the request headers to record.
#include "config/fields/shared_rows.hpp"
#include "config/values/file_values.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace stint::config {

namespace {

void read_target(const Field& field, const Value& value, AccessLog& log, LoadState& loading) {
    const auto text = value.scalar(field.expected);
    if (!text)
        return;
    if (*text == "stdout") {
        log.target = {};
    } else if (*text == "off") {
        log.target = {LogTarget::Kind::off, {}};
    } else if (const auto path = value.as("the path of a file", parse_file_path)) {
        log.target = {LogTarget::Kind::file, (loading.folder / *path).string()};
        std::error_code error;
        if (std::filesystem::is_directory(log.target.path, error))
            value.wrong(in_quotes(log.target.path) + " is a folder; expected the path of a file");
    }
}

void read_log_fields(const Field& field, const Value& value, AccessLog& log, LoadState&) {
    const auto items = value.items(field.expected);
    if (!items)
        return;
    for (const Value& item : *items) {
        const auto name = item.as("a field such as header:Referer", parse_log_field);
        if (!name)
            continue;
        if (std::find(log.rules.fields.begin(), log.rules.fields.end(), *name) !=
            log.rules.fields.end())
            item.wrong(in_quotes("header:" + *name) + " is listed already; remove one");
        log.rules.fields.push_back(*name);
    }
}

constexpr std::array<std::string_view, 4> log_key_words{"hash", "prefix", "full", "off"};

using LogRow = Fields<AccessLog>;
constexpr std::array access_log_table{
    LogRow::other(
        {.key = "path",
         .about = "stdout, off, or a file, which is appended to and made with mode 0640.",
         .expected = "stdout, off or the path of a file"},
        {.kind = FieldType::Kind::text, .name = "stdout, off, or path of a file"},
        &read_target,
        [](const Field& field, const AccessLog& log, const Config&, Shown::Map& members) {
            using Kind = LogTarget::Kind;
            add(members, field.key,
                log.target.kind == Kind::file              ? absolute_file(log.target.path)
                : log.target.kind == Kind::standard_output ? "stdout"
                                                           : "off");
        }),
    LogRow::other(
        {.key = "fields",
         .about = "Request header fields to log beside the usual members.",
         .expected = "a list such as [header:Referer]"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "header:NAME"},
        &read_log_fields,
        [](const Field& field, const AccessLog& log, const Config&, Shown::Map& members) {
            Shown::List fields;
            for (const std::string& name : log.rules.fields)
                fields.emplace_back("header:" + name);
            add(members, field.key, std::move(fields));
        }),
    LogRow::word<inside<&AccessLog::rules, &LogRules::key>>(
        {.key = "log_key",
         .about = "How a line shows the key by which its limit has refused.",
         .expected = "hash, prefix, full or off"},
        log_key_words),
};

} // namespace

Table<AccessLog> access_log_fields() {
    return access_log_table;
}

} // namespace stint::config
