// One lock: a cap of `limits/` whose slots have holders with a name, a number and an end.
#pragma once

#include "base/time.hpp"
#include "limits/limit.hpp"
#include "locks/lease.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stint::locks {

class LockManager;

// Who waits for a lock, to be listed. Owned by who waits; in the book from
// LockManager::begin_wait() to its end.
class Waiting : public boost::intrusive::list_base_hook<> {
  public:
    Waiting() = default;
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting(); // as LockManager::end_wait()

  private:
    friend class LockManager;
    LockManager* book_ = nullptr;
    LockPtr lock_;
    std::string owner_;
    SteadyTime since_{};
};

// What became of those who asked, ever.
struct Counts {
    std::uint64_t granted = 0;
    std::uint64_t refused = 0; // at once or after a wait
    std::uint64_t released = 0;
    std::uint64_t expired = 0; // never renewed and never released: somebody leaks
    std::uint64_t forced = 0;
    std::uint64_t disconnected = 0; // ended with their connections

    Counts& operator+=(const Counts& other) noexcept;
};

// Shared by the book and by those who are asking. Threads: what is public, any.
class Lock {
  public:
    Lock(std::string name, limits::LimitPtr limit, std::uint64_t max)
        : name_{std::move(name)}, limit_{std::move(limit)}, max_{max} {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const limits::LimitPtr& limit() const noexcept { return limit_; }
    [[nodiscard]] std::uint64_t max() const noexcept {
        return max_.load(std::memory_order_relaxed);
    }
    // Before it, at a time.
    [[nodiscard]] std::uint64_t max_waiting() const noexcept {
        return max_waiting_.load(std::memory_order_relaxed);
    }
    // One slot of it.
    [[nodiscard]] limits::Charge charge() const noexcept {
        return {.limit = limit_.get(), .quota = max()};
    }

  private:
    friend class LockManager;
    using Leases = boost::intrusive::list<Lease, boost::intrusive::base_hook<InLock>>;

    const std::string name_;
    const limits::LimitPtr limit_;
    std::atomic<std::uint64_t> max_;
    std::atomic<std::uint64_t> max_waiting_{0};
    // With the book's mutex:
    bool declared_ = false;
    Leases leases_;          // in the order of their grants
    std::uint64_t held_ = 0; // slots of theirs
    boost::intrusive::list<Waiting> waiting_;
    Counts counts_;
};

} // namespace stint::locks
