// Exceptions from a limit: keys with other numbers, and clients or keys that it does not concern or
// never admits.
#pragma once

#include "base/ip_address.hpp"
#include "limits/decision.hpp"
#include "routing/text_map.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::routing {

// Whether `text` is what `pattern` stands for: "*" any bytes or none, "?" one byte, all others
// themselves. O(length of text * length of pattern).
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text) noexcept;
[[nodiscard]] bool is_glob(std::string_view text) noexcept;

// Values by key text, exact or by pattern. Immutable once built.
template <class T>
class KeyMap {
  public:
    void add(const std::string& pattern, T value) {
        if (!is_glob(pattern)) {
            exact_.insert_or_assign(pattern, std::move(value));
            return;
        }
        auto at = patterns_.begin();
        while (at != patterns_.end() && at->first.size() >= pattern.size())
            ++at;
        patterns_.emplace(at, pattern, std::move(value));
    }

    [[nodiscard]] bool empty() const noexcept { return exact_.empty() && patterns_.empty(); }

    [[nodiscard]] std::size_t size() const noexcept { return exact_.size() + patterns_.size(); }

    // The exact one before the longest pattern; of patterns of one length the first added. nullptr
    // without either. Valid as long as the map.
    [[nodiscard]] const T* find(std::string_view text) const noexcept {
        if (const auto found = exact_.find(text); found != exact_.end())
            return &found->second;
        for (const auto& [pattern, value] : patterns_)
            if (matches_glob(pattern, text))
                return &value;
        return nullptr;
    }

  private:
    TextMap<T> exact_;
    std::vector<std::pair<std::string, T>> patterns_; // the longest first
};

// What one key has instead of the limit's own numbers; a burst of 0 is the limit's.
using OverrideSet = KeyMap<limits::Numbers>;
using OverrideSetPtr = std::shared_ptr<const OverrideSet>;

// Clients by address, or keys by text.
struct KeyList {
    struct Listed {};
    std::vector<Cidr> networks;
    KeyMap<Listed> keys;

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && keys.empty(); }
    // key: "" where it is missing, which no list has.
    [[nodiscard]] bool contains(const IpAddress& client, std::string_view key) const noexcept;
};

// What a limit says of a request before it counts it. A client or key on both lists is denied.
struct KeyRules {
    KeyList exempt;
    KeyList deny;
    OverrideSetPtr overrides; // never null
};
using KeyRulesPtr = std::shared_ptr<const KeyRules>;

// What holds for a key: `own` of the limit, or its override. rules: may be nullptr. key: nothing
// where it is missing, which no override is for.
[[nodiscard]] limits::Numbers numbers_for(
    const KeyRulesPtr& rules, limits::Numbers own, std::optional<std::string_view> key) noexcept;

} // namespace stint::routing
