// The cost of a request at a limit, and the rules for refunding it.
#pragma once

#include "base/message.hpp"
#include "http/ascii.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stint::routing {

using Statuses = std::vector<std::uint16_t>;

[[nodiscard]] inline bool contains(const Statuses& statuses, int status) noexcept {
    return std::ranges::find(statuses, status) != statuses.end();
}

struct Pricing {
    // The cost charged at admission: a fixed cost, or a reserve until the response states the cost.
    std::uint64_t cost = 1;
    std::string request_field;  // request field that states the cost, in lower case; empty = `cost`
    std::string response_field; // response field that states the cost, at most `cost`; empty = none
    Statuses count_when;        // response statuses that count; empty = all
    Statuses refund;

    // True if the charge may change after the admission.
    [[nodiscard]] bool refundable() const noexcept {
        return !response_field.empty() || !count_when.empty() || !refund.empty();
    }
};

// Parses the value of a cost field: a whole number from 1; a higher one than a million million
// counts as that. Returns nullopt for any other text.
[[nodiscard]] inline std::optional<std::uint64_t> parse_cost(std::string_view text) noexcept {
    constexpr std::uint64_t most = 1'000'000'000'000;
    std::uint64_t cost = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9')
            return std::nullopt;
        cost = std::min(cost * 10 + static_cast<std::uint64_t>(digit - '0'), most);
    }
    return cost > 0 ? std::optional{cost} : std::nullopt;
}

// Returns the cost in the first field of this name (lower case); nullopt if there is no such field,
// or its value is not a cost.
[[nodiscard]] inline std::optional<std::uint64_t>
cost_in(std::span<const Field> fields, std::string_view name) noexcept {
    for (const Field& field : fields)
        if (http::ascii::equals_folded(field.name, name))
            return parse_cost(field.value);
    return std::nullopt;
}

} // namespace stint::routing
