#include "config/diff/changes.hpp"

#include "config/fields/reference.hpp"
#include "config/fields/tables.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace stint::config {
namespace {

// The rows of all tables by the paths of their keys, with NAME or KEY in place of a name, such as
// upstreams.NAME.queue.max_wait, and [] behind the key of a list.
class Rows {
  public:
    Rows() {
        for (const SectionReference& section : reference()) {
            add(section, section.path);
            for (const std::string_view other : section.others)
                add(section, other);
        }
    }

    // Returns nullopt if there is no such row.
    [[nodiscard]] std::optional<Reload> find(const std::string& path) const {
        const auto row = rows_.find(path);
        return row == rows_.end() ? std::nullopt : std::optional{row->second};
    }

    // Returns the path of a section's or a list's part.
    [[nodiscard]] std::string below(const std::string& path, const Step& step) const {
        const auto* const key = std::get_if<std::string>(&step);
        if (key == nullptr)
            return path + "[]";
        const std::string prefix = path.empty() ? "" : path + ".";
        for (const std::string_view any : {"NAME", "KEY"})
            if (const std::string named = prefix + std::string{any}; sections_.contains(named))
                return named;
        return prefix + *key;
    }

  private:
    void add(const SectionReference& section, std::string_view path) {
        sections_.emplace(path);
        const std::string prefix = path.empty() ? "" : std::string{path} + ".";
        for (const SectionReference::Key& key : section.keys)
            rows_.emplace(prefix + std::string{key.field.key}, key.field.reload);
    }

    std::map<std::string, Reload> rows_;
    std::set<std::string> sections_;
};

} // namespace

Reload effect_of(const Path& path) {
    static const Rows rows;
    Reload effect = Reload::applies;
    std::string at;
    for (const Step& step : path) {
        at = rows.below(at, step);
        effect = rows.find(at).value_or(effect);
    }
    return effect;
}

std::vector<Change> changes_between(const Config& former, const Config& next) {
    std::vector<Change> changes;
    for (Difference& each :
         differences(shown(config_fields(), former, former), shown(config_fields(), next, next))) {
        const Reload effect = effect_of(each.path);
        changes.push_back({std::move(each), effect});
    }
    return changes;
}

} // namespace stint::config
