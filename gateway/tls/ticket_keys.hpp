// The keys under which session tickets are sealed (RFC 5077, RFC 8446 section 4.6.1): made here,
// never written anywhere, and replaced in time.
#pragma once

#include "base/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

namespace stint::tls {

// Shared by all servers of the process, so that a ticket is good at every worker and after a
// reload. What a ticket keeps secret is safe once its key is gone: at most twice key_life. Any
// thread.
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

    static constexpr std::chrono::hours key_life{12};    // then a new key seals
    static constexpr std::chrono::hours ticket_life{12}; // how long a key opens tickets afterwards

    explicit TicketKeys(SteadyTime now);
    ~TicketKeys(); // wipes them
    TicketKeys(const TicketKeys&) = delete;
    TicketKeys& operator=(const TicketKeys&) = delete;

    // Makes a new key if the newest one is old enough. To be called now and then, by one thread.
    void rotate(SteadyTime now);

    [[nodiscard]] Key newest() const;
    // name: TicketKeys::Key::name_size bytes.
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
