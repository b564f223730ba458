// The leases that end with a connection.
#pragma once

#include "base/hash.hpp"
#include "locks/lock_manager.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stint::permits {

// Belongs to one connection, on its worker. The leases end with it, however it ends.
class ConnectionLeases {
  public:
    // number: unique among the connections, not 0.
    ConnectionLeases(locks::LockManager& book, std::uint64_t number)
        : book_{book}, number_{number} {}
    ~ConnectionLeases();
    ConnectionLeases(const ConnectionLeases&) = delete;
    ConnectionLeases& operator=(const ConnectionLeases&) = delete;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // Adds a lease whose LeaseRequest or Renewal has this number as its connection_id.
    void add(Hash128 lease);
    void remove(Hash128 lease) noexcept;
    // True if one of the leases is alive.
    [[nodiscard]] bool any();

    // Notes that the reply with this grant, which is not bound, is on its way: without sent() the
    // grant is withdrawn.
    void send(std::string_view lock, const locks::Grant& grant);
    void sent() noexcept { sending_.clear(); }

    // Detaches the leases, where the gateway ends the connection and not the caller: they live on
    // for as long as they would if the caller did not answer.
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
    std::size_t look_from_ = 16; // the size from which ended leases are looked for
};

} // namespace stint::permits
