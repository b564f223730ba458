// The names of counters in a store. Pure.
#pragma once

#include "base/hash.hpp"
#include "limits/spec.hpp"

#include <string>
#include <string_view>

namespace stint::stores {

// Returns the hash as 32 hexadecimal digits.
[[nodiscard]] std::string digits_of(const Hash128& hash);

// Thread-safe. All names of a store have one hash slot.
class CounterNames {
  public:
    // secret: empty: the prefix.
    CounterNames(std::string_view prefix, std::string_view secret);

    // Returns the key of the registry of sessions, and the channel of messages: "{stint}:r", with
    // a secret followed by ":" and 8 digits that depend on it.
    [[nodiscard]] const std::string& registry() const noexcept { return registry_; }
    // Returns the counter's key, of everything that makes counts incomparable:
    // "{stint}:c:" and 32 hexadecimal digits. Two counters have the same name only if their
    // 128-bit hashes collide. Throws std::bad_alloc.
    [[nodiscard]] std::string
    counter(const limits::LimitIdentity& identity, std::string_view key_text) const;

    // Returns the key of the pauses that gateways tell each other: "{stint}:p", with a secret
    // followed as the registry's.
    [[nodiscard]] const std::string& pauses() const noexcept { return pauses_; }
    // Returns the name of a cool-down's scope there. digest: limits::digest_of() its key's text.
    // Throws std::bad_alloc.
    [[nodiscard]] Hash128
    pause(std::string_view owner, std::string_view scope, const Hash128& digest) const;

  private:
    std::string registry_;
    std::string pauses_;
    std::string counters_; // the prefix of all counters' names
    KeyHasher hasher_;
};

} // namespace stint::stores
