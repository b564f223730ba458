#include "config/fields/reference.hpp"

#include "config/fields/tables.hpp"
#include "config/fields/units.hpp"

#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace stint::config {

namespace {

// Returns a number as a configuration file would state it, with the unit of its type.
std::string number_text(const FieldType& type, std::uint64_t number) {
    if (number == 0 && !type.zero.empty())
        return std::string{type.zero};
    if (type.kind == FieldType::Kind::duration)
        return length_text(number);
    return type.kind == FieldType::Kind::size ? size_text(number) : std::to_string(number);
}

// Returns a value as a configuration file would state it; nullopt for a map.
std::optional<std::string> file_text(const Shown& shown) {
    if (const bool* const truth = std::get_if<bool>(&shown.value()))
        return *truth ? "true" : "false";
    if (const std::uint64_t* const number = std::get_if<std::uint64_t>(&shown.value()))
        return std::to_string(*number);
    if (const auto* const length = std::get_if<std::chrono::nanoseconds>(&shown.value()))
        return duration_text(*length);
    if (const auto* const size = std::get_if<Shown::Bytes>(&shown.value()))
        return size_text(size->count);
    if (const std::string* const text = std::get_if<std::string>(&shown.value()))
        return *text;
    const Shown::List* const items = std::get_if<Shown::List>(&shown.value());
    if (items == nullptr)
        return std::nullopt;
    std::string list;
    for (const Shown& each : *items)
        list.append(list.empty() ? "" : ", ").append(file_text(each).value_or(""));
    return "[" + list + "]";
}

// Returns the default of a key: the value that the sample has; nullopt if it cannot be stated as
// one value.
template <class S>
std::optional<std::string> default_of(const FieldOf<S>& field, const S& sample) {
    const auto show = field.plain != nullptr ? field.plain : field.show;
    const Config defaults;
    Shown::Map members;
    if (show != nullptr)
        show(field, sample, defaults, members);
    return members.size() == 1 ? file_text(members.front().value) : std::nullopt;
}

// Describes a section from its table. others: paths of sections with the same keys. sample: a
// struct with the default values.
template <class S>
SectionReference section(
    std::string_view path,
    Table<S> table,
    std::vector<std::string_view> others = {},
    const S& sample = {}) {
    SectionReference section{path, std::move(others), {}};
    for (const FieldOf<S>& field : table) {
        SectionReference::Key key{field, std::string{field.otherwise}};
        if (field.otherwise.empty() && !field.required) {
            if (auto value = default_of(field, sample)) {
                key.otherwise = std::move(*value);
                key.has_value = true;
            }
        }
        section.keys.push_back(std::move(key));
    }
    return section;
}

Limit sample_limit() {
    Limit limit;
    limit.quota = 1;
    limit.wait = Limit::Wait{}; // clang cannot emplace() a nested class with initialisers
    limit.lock.emplace();
    return limit;
}

Cooldown sample_cooldown() {
    Cooldown cooldown;
    cooldown.wait = Cooldown::Wait{};
    return cooldown;
}

std::string_view reload_text(Reload reload) {
    switch (reload) {
    case Reload::applies:
        return "yes";
    case Reload::new_connections:
        return "new connections";
    case Reload::restart:
        break;
    }
    return "restart";
}

// Escapes text for a cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text)
        escaped.append(c == '|' || c == '*' || c == '<' ? "\\" : "").append(1, c);
    return escaped;
}

std::string default_cell(const SectionReference::Key& key) {
    if (key.has_value)
        return "`" + key.otherwise + "`";
    if (key.field.required)
        return "*required*";
    constexpr std::string_view required = "*required*";
    if (key.otherwise.starts_with(required))
        return std::string{required} + cell(key.otherwise.substr(required.size()));
    return cell(key.otherwise);
}

// Returns a sentence that names other sections with the same keys; "" if there are none.
std::string also_at(const SectionReference& section) {
    if (section.others.empty())
        return {};
    if (section.path == "limits.NAME")
        return "An inline limit in `routes[].limits[]` has the same keys; `name` is for it "
               "alone.\n\n";
    std::vector<std::string> quoted;
    for (const std::string_view other : section.others)
        quoted.push_back("`" + std::string{other} + "`");
    const std::vector<std::string_view> names{quoted.begin(), quoted.end()};
    return listed(names, "and") + (names.size() > 1 ? " have" : " has") + " the same keys.\n\n";
}

std::string bounds_text(const FieldType& type) {
    FieldType plain = type;
    plain.zero = {};
    const bool from_zero = type.low == 0 || type.zero == "0";
    return (from_zero ? "0" : number_text(plain, type.low)) + " to " +
           number_text(plain, type.high);
}

} // namespace

std::string type_text(const FieldType& type) {
    constexpr std::array<std::string_view, 8> names{
        "true or false", "number", "size", "duration", "", "", "", ""};
    const bool numbers = type.kind == FieldType::Kind::number ||
                         type.kind == FieldType::Kind::size ||
                         type.kind == FieldType::Kind::duration;
    std::string text{type.name.empty() ? names[static_cast<std::size_t>(type.kind)] : type.name};
    if (type.kind == FieldType::Kind::word)
        text = listed(type.words, "or");
    if (numbers && type.high > 0)
        text.append(", ").append(bounds_text(type));
    if (type.is_list)
        text.insert(0, "list: ");
    if (type.most_items > 0)
        text.append(", up to ").append(std::to_string(type.most_items));
    if (!type.zero.empty() && type.zero != "0")
        text.append(", or ").append(type.zero);
    return text;
}

std::vector<SectionReference> reference() {
    return {
        section("", config_fields()),
        section("listeners[]", listener_fields()),
        section("listeners[].http2", http2_fields()),
        section("listeners[].tls", tls_fields(), {"admin.tls"}),
        section("listeners[].tls.certificates[]", certificate_fields()),
        section("admin", admin_fields()),
        section("permits", permits_fields()),
        section("state", state_fields()),
        section("stores.NAME", store_fields()),
        section("stores.NAME.sentinel", sentinel_fields()),
        section("timeouts", timeout_fields()),
        section("min_rate", min_rate_fields()),
        section("access_log", access_log_fields()),
        section("log", log_fields()),
        section("headers", header_fields(), {"routes[].headers"}),
        section("upstreams.NAME", upstream_fields()),
        section("upstreams.NAME.endpoints[]", endpoint_fields()),
        section("upstreams.NAME.tls", upstream_tls_fields(), {"stores.NAME.tls"}),
        section("upstreams.NAME.timeouts", timeout_override_fields(), {"routes[].timeouts"}),
        section(
            "upstreams.NAME.cooldown", cooldown_fields(), {"routes[].cooldown"}, sample_cooldown()),
        section("upstreams.NAME.retry", retry_fields(), {"routes[].retry"}),
        section("upstreams.NAME.ejection", ejection_fields()),
        section("upstreams.NAME.health", health_fields()),
        section("upstreams.NAME.queue", queue_fields()),
        section(
            "upstreams.NAME.request", edit_fields(),
            {"upstreams.NAME.response", "routes[].request", "routes[].response"}),
        section("limits.NAME", limit_fields(), {"routes[].limits[]"}, sample_limit()),
        section("limits.NAME.count_when", count_when_fields()),
        section("limits.NAME.overrides.KEY", override_fields()),
        section("limits.NAME.shared", shared_fields()),
        section("limits.NAME.body", body_fields()),
        section("locks.NAME", lock_fields(), {}, sample_limit()),
        section("locks.NAME.shared", lock_shared_fields()),
        section("routes[]", route_fields()),
        section("routes[].match", match_fields()),
        section("routes[].limits[]", reference_fields()),
        section("routes[].respond", respond_fields()),
        section("routes[].redirect", redirect_fields()),
        section("routes[].rewrite", rewrite_fields()),
    };
}

std::string reference_page() {
    std::string page =
        "# Configuration reference\n\n"
        "Every key of the configuration file, its type with bounds, its default, and when a change "
        "of it is applied:\n"
        "at a reload (*yes*), at a reload to connections that are opened after it (*new "
        "connections*), or with a\n*restart*. What the keys mean together, with examples, is in "
        "[configuration.md](configuration.md).\n\n"
        "This page is what `stint fields` prints.\n";
    for (const SectionReference& section : reference()) {
        page += section.path.empty() ? "\n## Top level\n\n"
                                     : "\n## " + std::string{section.path} + "\n\n";
        page += also_at(section);
        page += "| key | type | default | reload | |\n|---|---|---|---|---|\n";
        for (const SectionReference::Key& key : section.keys)
            page.append("| `")
                .append(key.field.key)
                .append("` | ")
                .append(cell(type_text(key.field.type)))
                .append(" | ")
                .append(default_cell(key))
                .append(" | ")
                .append(reload_text(key.field.reload))
                .append(" | ")
                .append(cell(key.field.about))
                .append(" |\n");
    }
    return page;
}

} // namespace stint::config
