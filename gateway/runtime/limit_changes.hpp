// The changes of limits that operators have made at run time. They outlive reloads and may expire.
#pragma once

#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "limits/decision.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::runtime {

// Says who made a change and why, in the operator's own words. Both may be empty.
struct Attribution {
    std::string who;
    std::string why;

    friend bool operator==(const Attribution&, const Attribution&) = default;
};

struct LimitChange {
    enum class Kind : std::uint8_t {
        numbers,      // another quota and burst
        block_key,    // requests with this key are denied
        block_client, // requests from this network are denied
        enforce       // the limit is enforced, or is a dry run
    };
    // The part of a limit that changes. A new change replaces the one with the same target.
    struct Target {
        std::string limit;
        Kind kind = Kind::numbers;
        // A key as in requests, a pattern with the wildcards "*" and "?", or a network. Empty for
        // the numbers of all keys without an override, and for Kind::enforce.
        std::string key;

        friend auto operator<=>(const Target&, const Target&) = default;
    };

    Target target;
    limits::Numbers numbers{}; // Kind::numbers; a burst of 0 means the limit's
    bool enforce = true;       // Kind::enforce
    Attribution by{};
    WallTime since{};
    std::optional<SteadyTime> expires{}; // nullopt: never
};

// Returns the subject of a change, for the operational log: "a block".
[[nodiscard]] std::string_view subject_of(LimitChange::Kind kind) noexcept;

// The changes of all limits. Used by the control thread alone. A function that throws has changed
// nothing. put(), erase() and next_end() take O(log n).
class LimitChanges {
  public:
    static constexpr std::size_t most = 10'000; // maximum over all limits together

    LimitChanges() = default;
    LimitChanges(const LimitChanges&) = delete;
    LimitChanges& operator=(const LimitChanges&) = delete;

    // Adds a change, or replaces the one with the same target. Returns false if there are `most`
    // changes already.
    [[nodiscard]] bool put(LimitChange change);
    // Removes a change. Returns true if there was one with this target.
    bool erase(const LimitChange::Target& target);
    // Removes all changes of a limit. Returns true if there were any.
    bool forget(const std::string& limit);

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    // Returns the targets of the changes that have expired by `now`, the earliest first.
    [[nodiscard]] std::vector<LimitChange::Target> ended_by(SteadyTime now) const;
    // Returns nullptr if there is no such change.
    [[nodiscard]] const LimitChange* find(const LimitChange::Target& target) const;
    // True if there is a change of this limit.
    [[nodiscard]] bool concern(const std::string& limit) const;
    // Returns the earliest expiry of a change; nullopt if no change expires.
    [[nodiscard]] std::optional<SteadyTime> next_end() const noexcept;
    // Returns the limit's changes of one kind, ordered by key.
    [[nodiscard]] std::vector<LimitChange>
    of(const std::string& limit, LimitChange::Kind kind) const;
    // Returns a limit's settings with its changes.
    [[nodiscard]] config::Limit applied_to(config::Limit limit) const;

    using ByTarget = std::map<LimitChange::Target, LimitChange>;
    [[nodiscard]] const ByTarget& all() const noexcept { return all_; }

  private:
    struct EarlierEnd {
        bool operator()(const LimitChange* a, const LimitChange* b) const noexcept {
            return std::pair{a->expires, a} < std::pair{b->expires, b};
        }
    };
    using ByEnd = std::set<const LimitChange*, EarlierEnd>;

    [[nodiscard]] ByTarget::const_iterator first_of(const std::string& limit) const;
    ByTarget::const_iterator remove(ByTarget::const_iterator change) noexcept;

    ByTarget all_;
    ByEnd ends_; // the changes in all_ that expire, the earliest first
};

} // namespace stint::runtime
