// Reads the header edits of routes and upstreams: fields to set and to remove.
#include "config/fields/shared_rows.hpp"
#include "config/values/edited_fields.hpp"
#include "config/values/placeholders.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

std::string name_fault(std::string_view name, EditedHead head, const LoadState& loading) {
    if (std::string fault = edit_fault(name, head); !fault.empty())
        return fault;
    const TrustedProxies& trusted = loading.config.trusted_proxies;
    const bool trusts = !trusted.networks.empty() || trusted.unix_peers;
    if (head == EditedHead::request && trusts && field_key(name) == field_key(trusted.header))
        return " names the client (client_ip_header) and is written by Stint";
    return {};
}

bool names(const FieldEdits& edits, std::string_view key) {
    return std::any_of(
               edits.set.begin(), edits.set.end(),
               [&](const auto& set) { return field_key(set.name) == key; }) ||
           std::any_of(edits.remove.begin(), edits.remove.end(), [&](const std::string& name) {
               return field_key(name) == key;
           });
}

// Returns true if a field of this name may be added to `edits`; else reports an error.
bool check_name(
    const Value& at,
    std::string_view name,
    EditedHead head,
    const FieldEdits& edits,
    const LoadState& loading) {
    if (const std::string fault = name_fault(name, head, loading); !fault.empty()) {
        at.wrong(in_quotes(name) + fault);
        return false;
    }
    if (names(edits, field_key(name))) {
        at.wrong(in_quotes(name) + " is set or removed already");
        return false;
    }
    return true;
}

void read_removed(
    const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading) {
    const auto items = value.items("a list of names such as [Server]");
    if (items && items->size() > most_edits)
        value.wrong("has more than 64 names");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto name = item.scalar("a header's name");
        if (name && check_name(item, *name, head, edits, loading))
            edits.remove.push_back(std::string{*name});
    }
}

Shown shown_header(const FieldEdits::Set& set) {
    if (set.may_be_secret)
        return Shown::Secret{set.value};
    return set.written.empty() ? Shown{set.value} : Shown{Shown::Written{set.written}};
}

using EditRow = Fields<FieldEdits>;
constexpr std::array edit_table{
    EditRow::other(
        {.key = "set_headers",
         .about = "Each replaces all received fields of its name; placeholders such as {client_ip} "
                  "are substituted.",
         .otherwise = "none"},
        {.kind = FieldType::Kind::other,
         .most_items = most_edits,
         .name = "map of names and values"},
        nullptr,
        [](const Field& field, const FieldEdits& edits, const Config&, Shown::Map& members) {
            Shown::Map set;
            for (const FieldEdits::Set& each : edits.set)
                add(set, each.name, shown_header(each));
            if (!set.empty())
                add(members, field.key, std::move(set));
        }),
    EditRow::other(
        {.key = "remove_headers", .about = "Fields that are removed.", .otherwise = "none"},
        {.kind = FieldType::Kind::text,
         .is_list = true,
         .most_items = most_edits,
         .name = "names of headers"},
        nullptr,
        [](const Field& field, const FieldEdits& edits, const Config&, Shown::Map& members) {
            if (!edits.remove.empty())
                add(members, field.key, list_of(edits.remove));
        }),
};

} // namespace

Table<FieldEdits> edit_fields() {
    return edit_table;
}

void read_set_headers(
    const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading) {
    const auto entries = value.entries("a map of names and values such as {X-Tenant: shop}");
    if (entries && entries->size() > most_edits)
        value.wrong("has more than 64 names");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (!check_name(entry.key, entry.name, head, edits, loading))
            continue;
        auto text = entry.value.as("a header's value", parse_field_value);
        if (!text)
            continue;
        // Only fields of requests may be secrets. Fields of responses are sent to clients anyway.
        const bool may_be_secret =
            head == EditedHead::request && !shows_no_secret(entry.value.written(), *text);
        if (may_be_secret && *text == Shown::hidden_text)
            entry.value.wrong(
                in_quotes(*text) + " stands for a value that GET /config does not print; expected "
                                   "the value, or a variable such as ${NAME}");
        edits.set.push_back(
            {std::string{entry.name}, std::move(*text), std::string{entry.value.written()},
             may_be_secret});
    }
}

void read_edits(const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading) {
    const auto section =
        open_section(value, edit_fields(), "a map such as {set_headers: {X-Tenant: shop}}");
    if (!section)
        return;
    if (const auto set = section->find("set_headers"))
        read_set_headers(*set, head, edits, loading);
    if (const auto removed = section->find("remove_headers"))
        read_removed(*removed, head, edits, loading);
}

} // namespace stint::config
