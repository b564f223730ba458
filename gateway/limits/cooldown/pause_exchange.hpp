// Where the gateways that share a cool-down tell each other of its pauses.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <memory>
#include <string_view>

namespace stint::limits {

class Cooldown;
struct CooldownIdentity;

// A pause that an upstream has asked some gateway for.
struct SharedPause {
    int status = 0; // the upstream's answer has this status
    SteadyTime end{};

    friend bool operator==(const SharedPause&, const SharedPause&) = default;
};

// Thread-safe. Never waits for another gateway.
class PauseExchange {
  public:
    virtual ~PauseExchange() = default;

    // Makes the cool-down learn of the pauses of others from now on, and of the one under way
    // (Cooldown::learn()), as long as it lives. Returns its name for tell(): the same in all
    // gateways for an identity and a key's digest_of(). Throws std::bad_alloc.
    [[nodiscard]] virtual Hash128 join(
        const CooldownIdentity& identity,
        const Hash128& digest,
        const std::shared_ptr<Cooldown>& cooldown,
        SteadyTime now) = 0;
    // False: not with other gateways, but with the process that replaces this one, or that it
    // replaces.
    [[nodiscard]] virtual bool joins_gateways() const noexcept { return true; }
    // Tells the others of a pause that has begun or is longer than before.
    virtual void tell(const Hash128& name, const SharedPause& pause) noexcept = 0;
};

// Returns what stands for a key's text among gateways: 128 bits of its BLAKE2b.
[[nodiscard]] Hash128 digest_of(std::string_view text) noexcept;

using PauseExchangePtr = std::shared_ptr<PauseExchange>;

} // namespace stint::limits
