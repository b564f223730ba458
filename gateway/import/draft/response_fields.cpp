// Header fields that nginx adds to responses, or hides.
#include "config/values/match_values.hpp"
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

constexpr std::array<std::string_view, 16> own_in_responses{
    "connection", "content-length",    "date",           "http2-settings",
    "keep-alive", "retry-after",       "retry-after-ms", "te",
    "trailer",    "transfer-encoding", "upgrade",        "via",
    "proxy-*",    "ratelimit*",        "x-ratelimit-*",  "x-request-id"};

// Adds the fields of add_header to `set`, and their names to `seen`.
void add_response_fields(
    const std::vector<HeaderField>& fields,
    Node& set,
    std::set<std::string>& seen,
    Report& report) {
    for (const HeaderField& field : fields) {
        const std::string key = field_key(field.name);
        const bool fits = config::is_token(field.name) && !has_one_of(key, own_in_responses) &&
                          !key.starts_with("x-stint-") && !has_variables(field.value) &&
                          config::parse_field_value(field.value) && seen.size() < most_fields;
        if (!fits || !seen.insert(key).second)
            report.lose(
                *field.at,
                config::in_quotes(field.name) +
                    " is left to Stint, is set twice, or has a value that Stint does not "
                    "send; left out");
        else if (!field.value.empty())
            set.add(field.name, Node::text(field.value));
    }
}

} // namespace

Node answer_headers(const Settings& settings, std::uint64_t status, Report& report) {
    constexpr std::array<std::uint64_t, 10> plain{200, 201, 204, 206, 301, 302, 303, 304, 307, 308};
    const bool is_plain = std::ranges::find(plain, status) != plain.end();
    std::vector<HeaderField> added;
    for (const HeaderField& field : settings.response_headers)
        if (field_key(field.name) == "content-type")
            report.lose(*field.at, "Content-Type is a key of its own (content_type); left out");
        else if (is_plain || field.always)
            added.push_back(field);
    Node set = Node::map();
    std::set<std::string> seen;
    add_response_fields(added, set, seen, report);
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
    add_response_fields(settings.response_headers, set, seen, report);
    for (const HeaderField& field : settings.hidden_headers) {
        const std::string key = field_key(field.name);
        if (!config::is_token(field.name) || has_one_of(key, own_in_responses) ||
            key.starts_with("x-stint-"))
            report.lose(
                *field.at,
                config::in_quotes(field.name) + " is left to Stint, which sets or removes it");
        else if (seen.insert(key).second)
            removed.push(Node::text(field.name));
    }
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
