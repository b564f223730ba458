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
#include <string>
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

// Used by the control thread alone.
class LimitChanges {
  public:
    static constexpr std::size_t most = 10'000; // maximum over all limits together

    // Adds a change, or replaces the one with the same target. Returns false if there are `most`
    // changes already.
    [[nodiscard]] bool put(LimitChange change);
    // Returns true if there was such a change.
    bool erase(const LimitChange::Target& target);
    // Removes all changes of a limit. Returns true if there were any.
    bool forget(const std::string& limit);
    // Removes changes that have expired by `now`, and returns them.
    std::vector<LimitChange> expire(SteadyTime now);

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    // True if there is a change of this limit.
    [[nodiscard]] bool concern(const std::string& limit) const;
    [[nodiscard]] std::optional<SteadyTime> next_end() const noexcept;
    // Returns the limit's changes of one kind, ordered by key.
    [[nodiscard]] std::vector<LimitChange>
    of(const std::string& limit, LimitChange::Kind kind) const;
    // Returns a limit's settings with its changes.
    [[nodiscard]] config::Limit applied_to(config::Limit limit) const;

    using ByTarget = std::map<LimitChange::Target, LimitChange>;
    [[nodiscard]] const ByTarget& all() const noexcept { return all_; }

  private:
    [[nodiscard]] ByTarget::const_iterator first_of(const std::string& limit) const;

    ByTarget all_;
};

} // namespace stint::runtime
