// The keys with the most requests of one limit in recent time, by name, as one worker saw them.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/top_keys/space_saving.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stint::limits {

// Covers the running period of five minutes and the one before. Periods begin at multiples of five
// minutes on the monotonic clock, the same for all workers. Plain data of one worker; other threads
// may read a copy. Takes memory as keys come, from 1.5 KiB for up to eight keys to 80 KiB: a
// configuration may have thousands of limits that few clients use. Without memory fewer keys, or
// none, are counted.
class HeavyHitters {
  public:
    static constexpr Duration period = std::chrono::minutes{5};

    HeavyHitters() = default;
    HeavyHitters(const HeavyHitters& other);
    HeavyHitters& operator=(const HeavyHitters&) = delete;

    // Counts one request of `key`; `text` is read only when the key is new here.
    void add(Hash128 key, std::string_view text, SteadyTime now) noexcept {
        if (now >= current_ends_ && !turn(now)) [[unlikely]]
            return;
        current_->add(key, text);
    }
    // Count the request that was added last under this key as refused, or as one that a dry run
    // would have refused.
    void refuse(Hash128 key) noexcept {
        if (current_ != nullptr) [[likely]]
            current_->refuse(key);
    }
    void count_would_refuse(Hash128 key) noexcept {
        if (current_ != nullptr) [[likely]]
            current_->count_would_refuse(key);
    }

    // Returns a key's counts in the last period in which it has an entry, for its text; nothing if
    // it has none. Valid until the next non-const call.
    [[nodiscard]] std::optional<SpaceSaving::Entry> find(Hash128 key) const noexcept;

    // The count by which keys are ranked.
    enum class By : std::uint8_t { requests, refused, would_refuse };

    struct Listed {
        std::string text;
        bool cut = false; // `text` is only the beginning of the key
        std::uint64_t requests = 0;
        // Never too high; too low by at most `over`, if the key lost its entry in between.
        std::uint64_t refused = 0;
        std::uint64_t would_refuse = 0; // in a dry run
        std::uint64_t over = 0;         // `requests` is too high by at most this
    };
    struct Top {
        std::vector<Listed> keys;   // the heaviest first, without those whose count is 0
        std::uint64_t unlisted = 0; // upper bound of the count of any other key
        Duration span{};            // the time that the counts cover
    };

    // Merges the counts of several workers until `now`. Counts and errors are added up. A key that
    // a part does not list counts there with that part's upper bound (Agarwal et al., "Mergeable
    // Summaries", PODS 2012). most: the most keys to return.
    [[nodiscard]] static Top
    merged(std::span<const HeavyHitters* const> parts, std::size_t most, By by, SteadyTime now);

  private:
    using Halves = std::array<SpaceSaving, 2>;

    // Begins the period of `now`. Returns false if there is no memory to count in.
    [[nodiscard]] bool turn(SteadyTime now) noexcept;

    std::unique_ptr<Halves> halves_; // nullptr before the first request
    std::size_t newer_ = 0;
    SpaceSaving* current_ = nullptr;              // the newer half
    SteadyTime current_ends_ = SteadyTime::min(); // so that the first request begins a period
};

} // namespace stint::limits
