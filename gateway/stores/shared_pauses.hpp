// The pauses of cool-downs that gateways share, as this gateway knows them.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/cooldown/pause_exchange.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace stint::stores {

// A pause on its way between gateways: the rest of it, as their clocks need not agree.
struct PauseTold {
    Hash128 name{};
    Duration left{};
    int status = 0;

    friend bool operator==(const PauseTold&, const PauseTold&) = default;
};

// Thread-safe. Keeps no cool-down alive, and calls none under its own lock.
class SharedPauses {
  public:
    static constexpr std::size_t most = 10'000; // pauses under way; further ones are not shared

    // Makes the cool-down learn of pauses, as long as it lives. Throws std::bad_alloc.
    void
    join(const Hash128& name, const std::shared_ptr<limits::Cooldown>& cooldown, SteadyTime now);
    // Notes a pause of this gateway. True: it is the first to be told since take_untold().
    [[nodiscard]] bool
    tell(const Hash128& name, const limits::SharedPause& pause, SteadyTime now) noexcept;

    // Returns up to `count` pauses that the others do not know of, which are told from then on.
    [[nodiscard]] std::vector<PauseTold> take_untold(std::size_t count, SteadyTime now);
    // They were not told after all.
    void put_back(std::span<const PauseTold> untold) noexcept;
    // Whatever is under way is to be told again.
    void tell_again() noexcept;
    // Takes pauses of other gateways. Returns how many were news, and begins or prolongs them here.
    std::size_t learn(std::span<const PauseTold> told, SteadyTime now);

    [[nodiscard]] std::size_t under_way(SteadyTime now) const;
    // Returns how many pauses of this gateway the others were not told of, because too many were
    // under way, or there was no memory.
    [[nodiscard]] std::uint64_t unshared() const noexcept {
        return unshared_.load(std::memory_order_relaxed);
    }

  private:
    struct Known {
        limits::SharedPause pause;
        bool told = false;
    };

    // Returns the pause with this name, made if there is none; null: too many are under way.
    [[nodiscard]] Known* known(const Hash128& name, SteadyTime now);

    mutable std::mutex mutex_;
    std::map<Hash128, Known> pauses_;
    std::map<Hash128, std::weak_ptr<limits::Cooldown>> joined_;
    SteadyTime sweep_at_{};            // not before, in a full table
    std::size_t sweep_joined_at_ = 64; // entries
    bool has_untold_ = false;
    std::atomic<std::uint64_t> unshared_{0};
};

} // namespace stint::stores
