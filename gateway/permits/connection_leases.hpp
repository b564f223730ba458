// The leases that end with a connection.
#pragma once

#include "base/hash.hpp"
#include "locks/lock_manager.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stint::permits {

// Belongs to one connection, on its worker; its end is theirs, however it comes.
class ConnectionLeases {
  public:
    // number: no other connection's, not 0.
    ConnectionLeases(locks::LockManager& book, std::uint64_t number)
        : book_{book}, number_{number} {}
    ~ConnectionLeases();
    ConnectionLeases(const ConnectionLeases&) = delete;
    ConnectionLeases& operator=(const ConnectionLeases&) = delete;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // One that has this number as LeaseRequest::tie or Renewal::tie.
    void add(Hash128 lease);
    void remove(Hash128 lease) noexcept;
    // Whether one of them is alive.
    [[nodiscard]] bool any();

    // The answer with this grant, which is not tied, is on its way: without sent() it is withdrawn.
    void send(std::string_view lock, const locks::Grant& grant);
    void sent() noexcept { sending_.clear(); }

    // The gateway ends the connection, not the caller: they live on for as long as they would if
    // the caller did not answer.
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
    std::size_t look_from_ = 16; // how many there are before those that have ended are looked for
};

} // namespace stint::permits
