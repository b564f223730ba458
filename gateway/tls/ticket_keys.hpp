// The keys that encrypt TLS session tickets (RFC 5077, RFC 8446 section 4.6.1). They are random,
// are never stored, and are rotated.
#pragma once

#include "base/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace stint::tls {

// Shared by all TLS listeners, so that a ticket is valid at every worker and after a reload. With
// regular rotation, a key is destroyed at most twice key_life after it was made; from then on its
// tickets cannot be decrypted. Threads: any.
class TicketKeys {
  public:
    struct Key {
        static constexpr std::size_t name_size = 16;
        std::array<unsigned char, name_size> name;
        std::array<unsigned char, 32> cipher;   // AES-256
        std::array<unsigned char, 32> checksum; // HMAC with SHA-256
    };
    struct Found {
        Key key;
        bool newest;
    };

    // Age at which a new key replaces the newest one.
    static constexpr std::chrono::hours key_life{12};
    // Lifetime of a ticket. Must be at most key_life, because a replaced key is kept only until the
    // next rotation.
    static constexpr std::chrono::hours ticket_life{12};

    explicit TicketKeys(SteadyTime now);
    ~TicketKeys(); // wipes the keys from memory
    TicketKeys(const TicketKeys&) = delete;
    TicketKeys& operator=(const TicketKeys&) = delete;

    // Makes a new key if the newest one is older than key_life. Call it regularly, from one thread.
    void rotate(SteadyTime now);

    // Returns the keys for another process of this machine, which is to use them, too.
    [[nodiscard]] std::string save() const;
    // Replaces the keys by those of save(). False, with nothing changed: these are none. Call it
    // before the first handshake.
    bool restore(std::string_view saved);

    [[nodiscard]] Key newest() const;
    // Returns the newest or the previous key if it has this name; else nullopt. name:
    // Key::name_size bytes.
    [[nodiscard]] std::optional<Found> find(const unsigned char* name) const;

  private:
    struct Aged {
        Key key{};
        SteadyTime made{};
    };

    [[nodiscard]] static Key make_key();

    mutable std::mutex mutex_;
    Aged newest_;
    std::optional<Aged> former_;
};

} // namespace stint::tls
