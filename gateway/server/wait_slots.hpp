// How many requests of one connection may wait in a queue at once.
#pragma once

#include <cstddef>
#include <utility>

namespace stint::server {

// Belongs to its connection, on that connection's thread.
class WaitSlots {
  public:
    explicit WaitSlots(std::size_t most) noexcept : left_{most} {}
    WaitSlots(const WaitSlots&) = delete;
    WaitSlots& operator=(const WaitSlots&) = delete;

  private:
    friend class WaitSlot;
    std::size_t left_;
};

// One request's slot for any of the queues: before limits and locks, for an endpoint, for the end
// of a pause. Every wait in a queue takes one first; a request that gets none is refused as if the
// queue were full. Its WaitSlots outlive it.
class WaitSlot {
  public:
    // slots: null if the connection has no bound.
    explicit WaitSlot(WaitSlots* slots) noexcept : slots_{slots} {}
    ~WaitSlot() { free(); }
    WaitSlot(const WaitSlot&) = delete;
    WaitSlot& operator=(const WaitSlot&) = delete;

    // Takes a slot, unless it is taken already. False if none is left.
    [[nodiscard]] bool take() noexcept {
        if (slots_ == nullptr || taken_)
            return true;
        taken_ = slots_->left_ > 0;
        slots_->left_ -= taken_ ? 1 : 0;
        return taken_;
    }
    // Gives the slot back. Idempotent.
    void free() noexcept {
        if (std::exchange(taken_, false))
            ++slots_->left_;
    }

  private:
    WaitSlots* const slots_;
    bool taken_ = false;
};

} // namespace stint::server
