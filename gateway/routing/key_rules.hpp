// Exceptions from a limit: keys with their own quota and burst, and clients or keys that are exempt
// or denied.
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

// True if `text` matches `pattern`: "*" matches any bytes or none, "?" one byte, others themselves.
// O(length of text * length of pattern).
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text) noexcept;
[[nodiscard]] bool is_glob(std::string_view text) noexcept;

// A map from key texts to values, exact or by glob pattern. Immutable once built.
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

    // Returns the value of the exact match, else of the longest pattern that matches (among equally
    // long ones, the first added), else nullptr. The pointer is valid as long as the map.
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

// Quota and burst of keys that have their own; a burst of 0 means the limit's.
using OverrideSet = KeyMap<limits::Numbers>;
using OverrideSetPtr = std::shared_ptr<const OverrideSet>;

// A list of clients by address, or keys by text.
struct KeyList {
    struct Listed {};
    std::vector<Cidr> networks;
    KeyMap<Listed> keys;

    [[nodiscard]] bool empty() const noexcept { return networks.empty() && keys.empty(); }
    // True if the client's address or the key is on the list. key: "" if missing, which no list
    // contains.
    [[nodiscard]] bool contains(const IpAddress& client, std::string_view key) const noexcept;
};

// The rules that a limit applies to a request before counting it. A client or key on both lists is
// denied.
struct KeyRules {
    KeyList exempt;
    KeyList deny;
    OverrideSetPtr overrides; // never null
};
using KeyRulesPtr = std::shared_ptr<const KeyRules>;

// Returns the quota and burst for a key: its override, else `own`, the limit's. rules: may be
// nullptr. key: nullopt for a request without the key, to which no override applies.
[[nodiscard]] limits::Numbers numbers_for(
    const KeyRulesPtr& rules, limits::Numbers own, std::optional<std::string_view> key) noexcept;

} // namespace stint::routing
