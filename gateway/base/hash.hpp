// A 128-bit keyed hash for client-chosen text: a client that does not know the key cannot make two
// texts collide, and a long text costs no memory once hashed.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint {

struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// SipHash-2-4 with 128-bit output (Aumasson and Bernstein 2012; libsodium's shorthash_siphashx24).
// The key is drawn from the system's random source at construction, or given, as for hashes that
// were stored by an earlier process. Threads: hashing is const and may run on any number of
// threads.
class KeyHasher {
  public:
    using Key = std::array<unsigned char, 16>;

    KeyHasher();
    explicit KeyHasher(const Key& key) : key_{key} {}
    // Returns the key. It is secret: a client that knows it can make texts collide.
    [[nodiscard]] const Key& key() const noexcept { return key_; }
    [[nodiscard]] Hash128 operator()(std::string_view text) const noexcept;

  private:
    Key key_;
};

// Derives a hasher's key from a secret of any length (BLAKE2b). Every process that knows the secret
// gets the same key.
[[nodiscard]] KeyHasher::Key key_of_secret(std::string_view secret) noexcept;

// Returns true if the texts are equal. The time depends on their lengths only (libsodium's
// sodium_memcmp), so that it tells nothing of a secret token.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

} // namespace stint
