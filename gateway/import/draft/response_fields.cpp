// Header fields that nginx adds to responses, or hides.
#include "config/values/edited_fields.hpp"
#include "config/values/placeholders.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/fields.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace stint::import_nginx {

namespace {

// Returns why a field of add_header is left out, to be written behind its name; "" if it is not.
// seen: the names of those before it.
std::string
fault_of(const HeaderField& field, config::EditedHead head, const std::set<std::string>& seen) {
    if (std::string fault = config::edit_fault(field.name, head); !fault.empty())
        return fault;
    if (has_variables(field.value))
        return " has a variable";
    if (!config::parse_field_value(field.value)) // its fault would show the value
        return " has a value that Stint does not send";
    if (seen.contains(config::field_key(field.name)))
        return " is set twice";
    return seen.size() == config::most_edits ? one_too_many() : std::string{};
}

// Adds the fields of add_header to `set`, and their names to `seen`. nginx adds none without a
// value.
void add_response_fields(
    const std::vector<HeaderField>& fields,
    config::EditedHead head,
    Node& set,
    std::set<std::string>& seen,
    Report& report) {
    for (const HeaderField& field : fields) {
        if (field.value.empty())
            continue;
        if (const std::string fault = fault_of(field, head, seen); !fault.empty()) {
            report.lose(*field.at, config::in_quotes(field.name) + fault + "; left out");
            continue;
        }
        seen.insert(config::field_key(field.name));
        set.add(field.name, Node::text(field.value));
    }
}

// Adds the fields of proxy_hide_header to `removed`. set: the names of those that are set.
void add_hidden_fields(
    const std::vector<HeaderField>& fields,
    const std::set<std::string>& set,
    Node& removed,
    Report& report) {
    std::set<std::string> seen;
    for (const HeaderField& field : fields) {
        std::string fault = config::edit_fault(field.name, config::EditedHead::response);
        const std::string key = config::field_key(field.name);
        if (fault.empty() && (set.contains(key) || seen.contains(key)))
            continue;
        if (fault.empty() && seen.size() == config::most_edits)
            fault = one_too_many();
        if (!fault.empty()) {
            report.lose(*field.at, config::in_quotes(field.name) + fault + "; left out");
            continue;
        }
        seen.insert(key);
        removed.push(Node::text(field.name));
    }
}

} // namespace

Node answer_headers(const Settings& settings, std::uint64_t status, Report& report) {
    constexpr std::array<std::uint64_t, 10> plain{200, 201, 204, 206, 301, 302, 303, 304, 307, 308};
    const bool is_plain = std::ranges::find(plain, status) != plain.end();
    std::vector<HeaderField> added;
    for (const HeaderField& field : settings.response_headers)
        if (is_plain || field.always)
            added.push_back(field);
    Node set = Node::map();
    std::set<std::string> seen;
    add_response_fields(added, config::EditedHead::answer, set, seen, report);
    return set;
}

void lose_headers(const Settings& settings, Report& report) {
    for (const HeaderField& field : settings.response_headers)
        report.lose(
            *field.at,
            config::in_quotes(field.name) + " is not added to redirects; left out there");
}

Node response_node(const Settings& settings, Report& report) {
    Node set = Node::map(), removed = Node::list(), node = Node::map();
    std::set<std::string> seen;
    add_response_fields(settings.response_headers, config::EditedHead::response, set, seen, report);
    add_hidden_fields(settings.hidden_headers, seen, removed, report);
    if (!set.empty())
        node.add(
            "set_headers", set.flow(),
            {"add_header. Not the same: on responses of the upstream with every status, in place "
             "of "
             "its own."});
    if (!removed.empty())
        node.add("remove_headers", removed.flow());
    return node;
}

} // namespace stint::import_nginx
