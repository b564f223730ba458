// The bound on the requests that all workers together have under way (max_requests_in_flight).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stint::proxy {

// Counts the requests that began while the bound was set. Thread-safe.
class alignas(64) RequestsInFlight {
  public:
    // A request's place, which its destructor gives back. False: there was none, or none was asked
    // for.
    class Slot {
      public:
        Slot() = default;
        explicit Slot(RequestsInFlight& all) noexcept : all_{&all} {}
        Slot(Slot&& other) noexcept : all_{std::exchange(other.all_, nullptr)} {}
        Slot& operator=(Slot&& other) noexcept {
            std::swap(all_, other.all_);
            return *this;
        }
        ~Slot() {
            if (all_ != nullptr)
                all_->now_.fetch_sub(1, std::memory_order_relaxed);
        }
        explicit operator bool() const noexcept { return all_ != nullptr; }

      private:
        RequestsInFlight* all_ = nullptr;
    };

    // Takes a place if fewer than `most` are taken, and counts a refusal otherwise. A refused
    // request never holds a place, so that it keeps no other one out.
    [[nodiscard]] Slot enter(std::size_t most) noexcept {
        std::size_t now = now_.load(std::memory_order_relaxed);
        while (now < most)
            if (now_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed))
                return Slot{*this};
        refused_.fetch_add(1, std::memory_order_relaxed);
        return {};
    }

    [[nodiscard]] std::size_t now() const noexcept { return now_.load(std::memory_order_relaxed); }
    // The total since the start.
    [[nodiscard]] std::uint64_t refused() const noexcept {
        return refused_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::size_t> now_{0};
    std::atomic<std::uint64_t> refused_{0};
};

} // namespace stint::proxy
