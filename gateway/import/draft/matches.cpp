#include "import/draft/matches.hpp"

#include "config/values/match_values.hpp"
#include "config/values/path_regex.hpp"
#include "config/yaml/diagnostics.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace stint::import_nginx {

namespace {

using MatchKind = LocationMatch::Kind;

// A location without a regular expression, or the rest of the server.
struct Static {
    std::string path;
    bool exact = false;
    bool first = false; // ^~: before all regular expressions
    const Location* location = nullptr;
};

struct Pattern {
    std::string text; // matches whole paths
    const Location* location = nullptr;
    const Location* around = nullptr; // a prefix that it is nested in
};

class Flattener {
  public:
    Flattener(const PathRules& rules, Report& report) : rules_{rules}, report_{report} {}

    void collect(const std::vector<Location>& level, const Location* around, bool first);
    std::vector<LocationMatch> take();

  private:
    void add_static(const Location& location, bool first);
    void add_pattern(const Location& location, const Location* around);
    void lose_nested(const Location& location);
    void report_shadowed();
    void drop_repeated(std::vector<LocationMatch>& all);
    [[nodiscard]] bool needs_regex(const Static& one) const;

    const PathRules& rules_;
    Report& report_;
    std::vector<Static> statics_;
    std::vector<Pattern> patterns_; // in nginx's order
    bool has_root_ = false;
};

// first: an enclosing location has ^~.
void Flattener::collect(const std::vector<Location>& level, const Location* around, bool first) {
    for (const Location& location : level) {
        if (location.kind == Location::Kind::regex)
            continue;
        const bool before = first || location.kind == Location::Kind::prefix_first;
        add_static(location, before);
        collect(location.nested, &location, before);
    }
    // Those of nested locations come before those around them, as nginx tries them first.
    for (const Location& location : level)
        if (location.kind == Location::Kind::regex) {
            add_pattern(location, around);
            lose_nested(location);
        }
}

void Flattener::add_static(const Location& location, bool first) {
    const bool exact = location.kind == Location::Kind::exact;
    const std::string path = location.pattern.empty() ? "/" : encoded_path(location.pattern);
    if (const auto parsed = config::parse_path(path); !parsed)
        return report_.lose(*location.at, parsed.error().why + "; left out");
    has_root_ = has_root_ || (path == "/" && !exact);
    statics_.push_back({path, exact, first, &location});
}

void Flattener::add_pattern(const Location& location, const Location* around) {
    std::string pattern = location.pattern;
    if (around != nullptr) {
        const std::string begin = escaped_for_regex(encoded_path(around->pattern));
        if (!pattern.starts_with('^'))
            pattern = '^' + begin + ".*" +
                      (pattern.find('|') == std::string::npos ? pattern : "(?:" + pattern + ')');
        else if (!std::string_view{pattern}.substr(1).starts_with(begin))
            return report_.lose(
                *location.at, "is nested in a location that it does not begin with; left out");
    }
    const std::string text = whole_path_regex(pattern, location.ignore_case);
    if (const auto parsed = config::parse_path_regex(text, config::PathUse::pattern, rules_);
        !parsed)
        return report_.lose(*location.at, parsed.error().why + "; left out");
    patterns_.push_back({text, &location, around});
}

void Flattener::lose_nested(const Location& location) {
    for (const Location& nested : location.nested)
        report_.lose(*nested.at, "is nested in a regular expression; left out");
}

// Returns true if the location needs a regular expression to take precedence: it is a prefix that
// ends within a segment, or lies in another one that does.
bool Flattener::needs_regex(const Static& one) const {
    if (one.exact || one.path == "/")
        return false;
    if (one.first && !patterns_.empty())
        return true;
    return std::ranges::any_of(
               statics_,
               [&](const Static& other) {
                   return !other.exact && !other.path.ends_with('/') &&
                          one.path.starts_with(other.path);
               }) ||
           std::ranges::any_of(statics_, [&](const Static& other) {
               return !patterns_.empty() && other.first && !other.exact &&
                      one.path.size() > other.path.size() && one.path.starts_with(other.path);
           });
}

// Reports the locations for which the regular expressions of the draft come in another order.
void Flattener::report_shadowed() {
    for (const Static& one : statics_)
        for (const Static& other : statics_)
            if (!patterns_.empty() && other.first && !one.first && !one.exact && !other.exact &&
                one.path.size() > other.path.size() && one.path.starts_with(other.path))
                report_.lose(
                    *one.location->at, "regular expressions come before it in nginx, and behind it "
                                       "in the draft, as it lies in a location with ^~");
    for (const Pattern& pattern : patterns_)
        for (const Static& one : statics_)
            if (pattern.around != nullptr && !one.exact && one.location != pattern.around &&
                one.path.size() > encoded_path(pattern.around->pattern).size() &&
                one.path.starts_with(encoded_path(pattern.around->pattern)))
                return report_.lose(
                    *pattern.location->at,
                    "takes paths of " + config::in_quotes(one.path) + " in the draft, too");
}

// Drops matches that stand there already. Of a regular expression nginx never reaches the location
// either; it refuses the others.
void Flattener::drop_repeated(std::vector<LocationMatch>& all) {
    std::set<std::pair<MatchKind, std::string>> seen;
    std::erase_if(all, [&](const LocationMatch& one) {
        const bool repeated = !seen.emplace(one.kind, one.text).second;
        if (repeated && one.kind == MatchKind::regex)
            report_.note(*one.location->at, "a location before it takes all of its paths");
        else if (repeated)
            report_.lose(*one.location->at, "is there already; left out");
        return repeated;
    });
}

std::vector<LocationMatch> Flattener::take() {
    report_shadowed();
    if (!has_root_)
        statics_.push_back({"/", false, false, nullptr});
    std::ranges::stable_sort(
        statics_, [](const Static& a, const Static& b) { return a.path.size() > b.path.size(); });
    std::vector<LocationMatch> exacts, early, late, prefixes;
    for (const Static& one : statics_) {
        const bool inside_first = std::ranges::any_of(statics_, [&](const Static& other) {
            return other.first && one.path.starts_with(other.path);
        });
        if (one.exact)
            exacts.push_back({MatchKind::exact, one.path, one.path, one.location});
        else if (needs_regex(one))
            (inside_first && !patterns_.empty() ? early : late)
                .push_back(
                    {MatchKind::regex, escaped_for_regex(one.path) + ".*", one.path, one.location});
        else
            prefixes.push_back({MatchKind::prefix, one.path, one.path, one.location});
    }
    std::vector<LocationMatch> all = std::move(exacts);
    std::ranges::move(early, std::back_inserter(all));
    for (const Pattern& one : patterns_)
        all.push_back({MatchKind::regex, one.text, {}, one.location});
    std::ranges::move(late, std::back_inserter(all));
    std::ranges::move(prefixes, std::back_inserter(all));
    drop_repeated(all);
    return all;
}

} // namespace

std::vector<LocationMatch>
matches_of(const Server& server, const PathRules& rules, Report& report) {
    if (server.action.kind == Action::Kind::answer)
        return {{MatchKind::prefix, "/", "/", nullptr}};
    Flattener flattener{rules, report};
    flattener.collect(server.locations, nullptr, false);
    return flattener.take();
}

} // namespace stint::import_nginx
