// The leases that end with a connection, or with a stream.
#pragma once

#include "base/counted.hpp"
#include "base/hash.hpp"
#include "base/time.hpp"
#include "locks/lock_manager.hpp"
#include "server/wait_slots.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stint::permits {

// Belongs to one connection, or to one request whose response is a stream, on its worker.
// Destroying it ends its leases, unless detach() was called.
class ConnectionLeases {
  public:
    // number: identifies the connection or the stream; unique in the process, and not 0.
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
    // The gauge of the requests under way for a lease that is to be bound to the connection.
    [[nodiscard]] std::uint64_t& requests() noexcept { return requests_; }

    // Notes that the reply with a grant is being sent. Withdraws the grant if the connection ends
    // before sent(), or with unsent(). stream: RequestHead::stream. bound: the lease was added,
    // too.
    void send(std::string_view lock, const locks::Grant& grant, std::uint32_t stream, bool bound);
    void sent(std::uint32_t stream) noexcept;
    void unsent(std::uint32_t stream) noexcept;

    // Unbinds the leases when the gateway, not the client, ends the connection: the leases live on
    // until their ttl ends.
    void detach() noexcept;
    [[nodiscard]] bool detached() const noexcept { return detached_; }

  private:
    struct Sending {
        std::string lock;
        locks::Grant grant;
        std::uint32_t stream;
        bool bound;
    };
    void forget_ended();

    locks::LockManager& book_;
    const std::uint64_t number_;
    std::vector<Hash128> leases_;
    std::vector<Sending> sending_;
    bool detached_ = false;
    std::uint64_t requests_ = 0;
    std::size_t look_from_ = 16; // number of leases at which add() first drops ended leases
};

// The owners of leases that a request may be granted.
struct LeaseOwners {
    explicit LeaseOwners(ConnectionLeases& of_connection) noexcept : connection{of_connection} {}

    ConnectionLeases& connection;
    std::optional<ConnectionLeases> response; // for LeaseBinding::stream
    std::optional<Counted> request;     // in the connection's gauge, for LeaseBinding::connection
    std::uint32_t stream = 0;           // RequestHead::stream
    bool stays = false;                 // the connection is kept alive
    server::WaitSlots* waits = nullptr; // the connection's; may be null
    SteadyTime waiting_since{};         // see server::ConnectionInfo

    [[nodiscard]] ConnectionLeases& of(locks::LeaseBinding binding) noexcept {
        return binding == locks::LeaseBinding::stream && response ? *response : connection;
    }
};

} // namespace stint::permits
