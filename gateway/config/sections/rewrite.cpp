// Reads the rewrites of a path for the upstream.
#include "config/fields/shared_rows.hpp"
#include "config/values/match_values.hpp"
#include "config/values/path_regex.hpp"
#include "config/values/values.hpp"

#include <array>

namespace stint::config {

namespace {

constexpr std::array rewrite_table{
    Fields<PathRewrite>::other(
        {.key = "regex",
         .about = "A regular expression for the whole path; others are not changed.",
         .expected = "a regular expression for the whole path",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "regular expression (RE2)"},
        nullptr,
        [](const Field& field, const PathRewrite& rewrite, const Config&, Shown::Map& members) {
            add(members, field.key, std::string_view{rewrite.regex->pattern()});
        }),
    Fields<PathRewrite>::other(
        {.key = "to",
         .about = "The path in its place, with \\1 to \\9 for its groups and \\0 for the path.",
         .expected = "a path such as /v2/\\1",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "path"},
        nullptr,
        [](const Field& field, const PathRewrite& rewrite, const Config&, Shown::Map& members) {
            add(members, field.key, rewrite.to);
        }),
};

std::string without_last_slash(std::string path) {
    if (path.ends_with('/'))
        path.pop_back();
    return path;
}

bool begins_with_segments(std::string_view path, std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// Parses the replacement of a regular expression. Checks it with sample text in place of its group
// references: the result must be a valid path.
Parsed<std::string> parse_replacement(std::string_view text, const Regex& regex) {
    if (const std::string fault = regex.rewrite_fault(text); !fault.empty())
        return ParseError{in_quotes(text) + " cannot be filled in: " + fault};
    std::string path{text};
    for (std::size_t at = 0; (at = path.find('\\', at)) != std::string::npos; ++at)
        if (path[at + 1] != '\\')
            path.replace(at, 2, "x");
    if (const auto parsed = parse_sent_path(path); !parsed)
        return ParseError{in_quotes(text) + " does not make a path: " + parsed.error().why};
    return std::string{text};
}

void read_strip(const Value& value, const Match& match, Route& route) {
    const auto prefix = value.as("a path such as /api", parse_path);
    if (!prefix)
        return;
    const std::string from = without_last_slash(*prefix);
    if (match.kind == Match::Path::regex)
        return value.wrong("is not for path_regex; use rewrite: {regex: ..., to: ...}");
    if (from.empty())
        return value.wrong("\"/\" would remove nothing");
    if (!begins_with_segments(match.path, from))
        return value.wrong(
            in_quotes(*prefix) +
            " is no prefix of the paths that the route matches; expected one "
            "of " +
            in_quotes(match.path) + " that ends with a segment");
    route.rewrite = PathRewrite{PathRewrite::Kind::prefix, from, {}, {}};
}

void read_regex_rewrite(const Section& section, const PathRules& rules, Route& route) {
    const auto pattern = section.require("regex", "a regular expression for the whole path");
    const auto to = section.require("to", "a path such as /v2/\\1");
    if (!pattern || !to)
        return;
    const auto regex = pattern->as("a regular expression", [&](std::string_view text) {
        return parse_path_regex(text, PathUse::other, rules);
    });
    if (!regex)
        return;
    const auto replacement = to->as("a path such as /v2/\\1", [&](std::string_view text) {
        return parse_replacement(text, *regex);
    });
    if (replacement)
        route.rewrite = PathRewrite{PathRewrite::Kind::regex, {}, *replacement, *regex};
}

void read_rewrite(const Value& value, const PathRules& rules, Route& route) {
    const Match& match = route.match;
    if (!value.is_scalar()) {
        if (const auto section =
                open_section(value, rewrite_fields(), "a path, or a map {regex: ..., to: ...}"))
            read_regex_rewrite(*section, rules, route);
        return;
    }
    const auto to = value.as("a path such as /v2", parse_sent_path);
    if (!to)
        return;
    if (match.kind == Match::Path::prefix)
        route.rewrite = PathRewrite{
            PathRewrite::Kind::prefix, without_last_slash(match.path), without_last_slash(*to), {}};
    else
        route.rewrite = PathRewrite{PathRewrite::Kind::whole, {}, *to, {}};
}

} // namespace

Table<PathRewrite> rewrite_fields() {
    return rewrite_table;
}

void read_path_changes(const Section& section, const PathRules& rules, Route& route) {
    const auto strip = section.find("strip_prefix");
    const auto rewrite = section.find("rewrite");
    if (strip && rewrite)
        section.wrong_at("rewrite", "excludes strip_prefix; keep one of them");
    if (strip)
        read_strip(*strip, route.match, route);
    if (rewrite)
        read_rewrite(*rewrite, rules, route);
}

} // namespace stint::config
