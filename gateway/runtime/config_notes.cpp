#include "runtime/config_notes.hpp"

#include "config/schema/used_limits.hpp"
#include "config/values/key_values.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace stint::runtime {
namespace {

using Notes = std::vector<std::string>;

// True if callers of the permit API may use the limit by its name: a lock, or any limit with
// windows if there is a permits listener.
bool is_for_permits(const config::Config& config, const config::Limit& limit) noexcept {
    return limit.lock || (config.permits && limit.kind == config::Limit::Kind::window);
}

void note_unused(const config::Config& config, Notes& notes) {
    const std::vector<bool> limits = config::limits_of_routes(config);
    for (std::size_t i = 0; i < config.limits.size(); ++i)
        if (!limits[i] && !is_for_permits(config, config.limits[i]))
            notes.push_back("the limit " + config.limits[i].name + " is used by no route");
    std::vector<bool> upstreams(config.upstreams.size());
    for (const config::Route& route : config.routes)
        if (!route.answer)
            upstreams[route.upstream] = true;
    for (std::size_t i = 0; i < config.upstreams.size(); ++i)
        if (!upstreams[i])
            notes.push_back("the upstream " + config.upstreams[i].name + " is used by no route");
}

void note_stars(const config::Route& route, Notes& notes) {
    const config::Match& match = route.match;
    if (match.kind == config::Match::Path::regex || match.path.find('*') == std::string::npos)
        return;
    std::string note = "the route " + route.name + " matches a literal \"*\" in " + match.path;
    if (match.kind == config::Match::Path::prefix && match.path.ends_with("/*"))
        note += ": path is a prefix, write " + match.path.substr(0, match.path.size() - 1);
    else
        note += ": for a pattern use path_regex";
    notes.push_back(std::move(note));
}

// True if the text has a variable as nginx and shells write it: "$name" or "${name}".
bool has_variable(std::string_view text) noexcept {
    for (std::size_t at = text.find('$'); at != std::string_view::npos;
         at = text.find('$', at + 1)) {
        const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
        if (std::isalpha(static_cast<int>(next)) != 0 || next == '{' || next == '_')
            return true;
    }
    return false;
}

// Returns the field's value as it is written in the file, without its environment variables.
std::string without_environment(const config::FieldEdits::Set& field) {
    std::string text = field.written.empty() ? field.value : field.written;
    for (std::size_t at = text.find("${"); !field.written.empty() && at != std::string::npos;
         at = text.find("${", at))
        text.erase(at, text.find('}', at) - at + 1);
    return text;
}

// Adds a note for each header value that has a "$" variable, which Stint would send literally. The
// note does not show the value, because it may be a secret. of: "route" or "upstream".
void note_variables(
    std::string_view of, const std::string& name, const config::Shaping& shaping, Notes& notes) {
    for (const config::FieldEdits* edits : {&shaping.request, &shaping.response})
        for (const config::FieldEdits::Set& field : edits->set)
            if (has_variable(without_environment(field)))
                notes.push_back(
                    "the " + std::string{of} + " " + name + " sends the \"$\" in " + field.name +
                    " as it is written: variables are spelt {client_ip}, {host}, {method}, "
                    "{request_id} and {route}");
}

void note_folder(std::string_view what, const std::string& file, Notes& notes) {
    if (file.empty())
        return;
    std::filesystem::path folder = std::filesystem::path{file}.parent_path();
    if (folder.empty())
        folder = ".";
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        notes.push_back(
            "the folder of " + std::string{what} + " does not exist: " + folder.string());
}

// True if a request may lack the source, for example a header.
bool may_be_missing(const config::KeySource& source) noexcept {
    using Kind = config::KeySource::Kind;
    switch (source.kind) {
    case Kind::header:
    case Kind::cookie:
    case Kind::query:
    case Kind::jwt:
    case Kind::tls_subject:
    case Kind::permit_key:
        return true;
    default:
        return false;
    }
}

void note_shared_key(const config::Limit& limit, Notes& notes) {
    if (limit.key.size() < 2 || limit.missing_key != config::Limit::MissingKey::share)
        return;
    const auto optional = std::ranges::find_if(limit.key, may_be_missing);
    if (optional != limit.key.end())
        notes.push_back(
            "the limit " + limit.name + " counts all requests without " +
            config::to_text(*optional) +
            " together, whatever the other parts of their keys; missing_key: partial counts by the "
            "other parts");
}

void note_keys_with_variables(const config::Limit& limit, Notes& notes) {
    for (const config::Override& each : limit.overrides)
        if (each.key.find("${") != std::string::npos)
            notes.push_back(
                "the limit " + limit.name + " has an override of the key " + each.key +
                " as it is written: variables are filled in in values alone");
}

} // namespace

std::vector<std::string> config_notes(const config::Config& config) {
    Notes notes;
    note_unused(config, notes);
    for (const config::Limit& limit : config.limits) {
        note_shared_key(limit, notes);
        note_keys_with_variables(limit, notes);
    }
    for (const config::Upstream& upstream : config.upstreams)
        note_variables("upstream", upstream.name, upstream.shaping, notes);
    for (const config::Route& route : config.routes) {
        note_stars(route, notes);
        note_variables("route", route.name, route.shaping, notes);
    }
    if (config.access_log.target.kind == LogTarget::Kind::file)
        note_folder("access_log", config.access_log.target.path, notes);
    if (config.state)
        note_folder("state", config.state->file, notes);
    return notes;
}

} // namespace stint::runtime
