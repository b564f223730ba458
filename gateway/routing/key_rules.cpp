#include "routing/key_rules.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::routing {

bool is_glob(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) { return c == '*' || c == '?'; });
}

// On a mismatch, the last "*" takes one more byte. Earlier "*" need not be tried again.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t star = none;
    std::size_t taken = 0; // end of the bytes that this "*" has taken
    std::size_t p = 0;
    for (std::size_t t = 0; t < text.size();) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != none) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == none;
}

bool KeyList::contains(const IpAddress& client, std::string_view key) const noexcept {
    const bool by_address = std::any_of(networks.begin(), networks.end(), [&](const Cidr& network) {
        return network.contains(client);
    });
    return by_address || (!key.empty() && keys.find(key) != nullptr);
}

limits::Numbers numbers_for(
    const KeyRulesPtr& rules, limits::Numbers own, std::optional<std::string_view> key) noexcept {
    const limits::Numbers* const found =
        rules != nullptr && key ? rules->overrides->find(*key) : nullptr;
    if (found == nullptr)
        return own;
    return {found->quota, found->burst > 0 ? found->burst : own.burst};
}

} // namespace stint::routing
