// What the tests of locks share: a book, the room before its locks, and the test's own time.
#pragma once

#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"
#include "waiting_fixture.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace stint::locks::test {

using limits::test::at;
using limits::test::start;
using namespace std::chrono_literals;

class Hall {
  public:
    explicit Hall(const Now& now = start) : book{registry, alarm, now.wall} {
        book.configure({}, 100, 1000, now);
    }

    LockPtr lock(const std::string& name, std::uint64_t max, const Now& now = start) {
        return std::get<LockPtr>(book.obtain(name, max, now));
    }

    // Nothing: it is held.
    std::optional<Grant> enter(const LockPtr& lock, const Now& now, LeaseRequest request = {}) {
        if (request.ttl == Duration::zero())
            request.ttl = 10s;
        if (const auto active = book.find_granted(request, now))
            return active;
        const limits::Charge slot = lock->charge();
        limits::Decision decision = limits::try_admit({&slot, 1}, now);
        if (!decision.allowed())
            return std::nullopt;
        return book.grant(lock, request, std::move(decision.permit), now).value();
    }

    bool leave(const Lock& lock, const Grant& grant, const Now& now) {
        return book.release(lock.name(), grant.id, std::nullopt, now).what ==
               LockManager::Release::free;
    }

    limits::test::Alarm alarm;
    limits::Registry registry;
    limits::AdmissionQueue room{alarm};
    LockManager book;
};

} // namespace stint::locks::test
