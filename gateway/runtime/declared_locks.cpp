#include "runtime/declared_locks.hpp"

#include "base/lock_names.hpp"
#include "net/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stint::runtime {

void declare_locks(
    const config::Config& config,
    const Compiled& compiled,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue) {
    std::vector<locks::LockManager::Declared> declared;
    for (const config::Limit& limit : config.limits)
        if (limit.lock)
            declared.push_back(
                {std::string{lock_name(limit.name)}, limit.quota, limit.lock->max_waiting});
    const std::uint64_t others = config.permits ? config.permits->dynamic_locks : 0;
    locks.configure(declared, others, config::LockTerms{}.max_waiting, net::read_clocks());
    // Requests may already be queued for a lock that was undeclared until now.
    for (const ConfiguredLimit& each : compiled.limits)
        if (each.limit->identity().name.starts_with(lock_prefix))
            queue.update_quota(*each.limit, [&](const auto&) { return each.numbers; });
}

} // namespace stint::runtime
