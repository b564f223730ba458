#include "config/diff/shown_diff.hpp"

#include "config/diff/growing_part.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stint::config {
namespace {

using ItemPositions = std::unordered_map<std::string_view, std::size_t>;

// Returns nullptr if the item has no name.
const std::string* name_of(const Shown& item) {
    if (const auto* const map = std::get_if<Shown::Map>(&item.value()))
        return map->empty() ? nullptr : std::get_if<std::string>(&map->front().value.value());
    return std::get_if<std::string>(&item.value());
}

// Returns the items' positions by their names; nullopt if one has no name, or that of another.
std::optional<ItemPositions> positions_of(const Shown::List& items) {
    ItemPositions positions;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string* const name = name_of(items[i]);
        if (name == nullptr || !positions.emplace(*name, i).second)
            return std::nullopt;
    }
    return positions;
}

bool is_shown_map(const Shown& shown) {
    return std::holds_alternative<Shown::Map>(shown.value());
}

class Comparison {
  public:
    void compare(const Shown& former, const Shown& next) {
        if (former == next)
            return;
        const auto* const maps = std::get_if<Shown::Map>(&former.value());
        const auto* const next_maps = std::get_if<Shown::Map>(&next.value());
        const auto* const list = std::get_if<Shown::List>(&former.value());
        const auto* const next_list = std::get_if<Shown::List>(&next.value());
        if (maps != nullptr && next_maps != nullptr)
            compare_maps(*maps, *next_maps);
        else if (list == nullptr || next_list == nullptr || !compare_lists(*list, *next_list))
            found.push_back({Difference::Kind::changed, next_path_, former, next});
    }

    std::vector<Difference> found;

  private:
    // Calls `visit` one step further down both paths.
    template <class Visit>
    void below(Step former, Step next, Visit visit) {
        former_path_.push_back(std::move(former));
        next_path_.push_back(std::move(next));
        visit();
        former_path_.pop_back();
        next_path_.pop_back();
    }
    void add(Step step, const Shown& value) {
        below(step, step, [&] {
            found.push_back({Difference::Kind::added, next_path_, {}, value});
        });
    }
    void remove(Step step, const Shown& value) {
        below(step, step, [&] {
            found.push_back({Difference::Kind::removed, former_path_, value, {}});
        });
    }

    void compare_maps(const Shown::Map& former, const Shown::Map& next) {
        ItemPositions positions;
        for (std::size_t i = 0; i < former.size(); ++i)
            positions.emplace(former[i].name, i);
        for (const Shown::Member& each : next) {
            const auto known = positions.find(each.name);
            if (known == positions.end()) {
                add(each.name, each.value);
                continue;
            }
            below(each.name, each.name, [&] { compare(former[known->second].value, each.value); });
            positions.erase(known);
        }
        for (const Shown::Member& each : former)
            if (positions.contains(each.name))
                remove(each.name, each.value);
    }

    // Returns false, without a comparison, if the items cannot be told apart by their names.
    bool compare_lists(const Shown::List& former, const Shown::List& next) {
        if (std::ranges::none_of(former, is_shown_map) && std::ranges::none_of(next, is_shown_map))
            return false;
        auto positions = positions_of(former);
        if (!positions || !positions_of(next))
            return false;
        std::vector<std::size_t> order; // former positions of the items that stay
        for (const Shown& each : next)
            if (const auto known = positions->find(*name_of(each)); known != positions->end())
                order.push_back(known->second);
        const std::vector<bool> stays = longest_growing_part(order);
        std::size_t seen = 0; // items of `order`
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto known = positions->find(*name_of(next[i]));
            if (known == positions->end()) {
                add(i, next[i]);
                continue;
            }
            const std::size_t before = known->second;
            below(before, i, [&] {
                if (!stays[seen++])
                    found.push_back({Difference::Kind::moved, next_path_, {}, {}, before});
                compare(former[before], next[i]);
            });
            positions->erase(known);
        }
        for (std::size_t i = 0; i < former.size(); ++i)
            if (positions->contains(*name_of(former[i])))
                remove(i, former[i]);
        return true;
    }

    Path former_path_;
    Path next_path_;
};

} // namespace

std::vector<Difference> differences(const Shown& former, const Shown& next) {
    Comparison comparison;
    comparison.compare(former, next);
    return std::move(comparison.found);
}

} // namespace stint::config
