// The leases that end with a connection.
#pragma once

#include "base/hash.hpp"
#include "locks/lock_manager.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stint::permits {

// Belongs to one connection, on its worker. Destroying it ends its leases, unless detach() was
// called.
class ConnectionLeases {
  public:
    // number: identifies the connection; unique in the process, and not 0.
    ConnectionLeases(locks::LockManager& book, std::uint64_t number)
        : book_{book}, number_{number} {}
    ~ConnectionLeases();
    ConnectionLeases(const ConnectionLeases&) = delete;
    ConnectionLeases& operator=(const ConnectionLeases&) = delete;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // Adds a lease that was granted or renewed with number() as its connection_id.
    void add(Hash128 lease);
    void remove(Hash128 lease) noexcept;
    // True if one of the leases is alive.
    [[nodiscard]] bool any();

    // Notes that the reply with a grant of an unbound lease is being sent. Withdraws the grant if
    // the connection ends before sent().
    void send(std::string_view lock, const locks::Grant& grant);
    void sent() noexcept { sending_.clear(); }

    // Unbinds the leases when the gateway, not the client, ends the connection: the leases live on
    // until their ttl ends.
    void detach() noexcept;

  private:
    struct Sending {
        std::string lock;
        locks::Grant grant;
    };
    void forget_ended();

    locks::LockManager& book_;
    const std::uint64_t number_;
    std::vector<Hash128> leases_;
    std::vector<Sending> sending_;
    std::size_t look_from_ = 16; // number of leases at which add() first drops ended leases
};

} // namespace stint::permits
