// The connection pool of one worker for one endpoint, and the lease on one of its connections.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::tls {
class Client;
} // namespace stint::tls

namespace stint::upstream {

class Race;
class Pool;

struct Connection {
    explicit Connection(const net::Executor& executor) : stream{executor} {}

    net::Stream stream;
    SteadyTime idle_since{};
    std::uint32_t version = 0; // Pool::version_ when it was known to lead to an address
    Race* race = nullptr;      // set while several addresses are tried at once
};

// One exchange's own upstream connection. Destroying it closes the connection; only keep() returns
// it. Move-only; must not outlive its pool.
class Lease {
  public:
    Lease() = default;
    Lease(Pool& pool, std::unique_ptr<Connection> connection, bool reused)
        : pool_{&pool}, connection_{std::move(connection)}, reused_{reused} {}

    explicit operator bool() const noexcept { return connection_ != nullptr; }
    [[nodiscard]] net::Stream& stream() const noexcept { return connection_->stream; }
    [[nodiscard]] bool reused() const noexcept { return reused_; }
    [[nodiscard]] const std::string& endpoint() const noexcept;

    // The result of connect(). error: that of the last address tried, or host_not_found if the host
    // name has no address yet.
    struct Connected {
        ErrorCode error;
        bool in_handshake = false; // connecting has reached the TLS handshake
        std::string reason;        // why the handshake failed, for people
    };
    // Connects to whichever of the endpoint's addresses answers first, then runs the TLS handshake
    // if the endpoint speaks TLS. abort() stops it. first: bytes sent before all others, TLS
    // included; they must stay in place until this has ended.
    [[nodiscard]] net::Task<Connected> connect(std::string_view first = {});

    // Returns the connection to its pool. Call only when the response was read to its end, the peer
    // keeps the connection, and no surplus byte is buffered (RFC 9112 section 9.3).
    void keep(SteadyTime now) noexcept;

    // Closes the connection. Waits on its socket end with an error.
    void abort() noexcept;

  private:
    [[nodiscard]] net::Task<ErrorCode> connect_to_any();
    [[nodiscard]] net::Task<Connected> shake_hands();

    Pool* pool_ = nullptr;
    std::unique_ptr<Connection> connection_;
    bool reused_ = false;
};

// One per worker and endpoint, not thread-safe.
class Pool {
  public:
    Pool(std::string endpoint, std::vector<net::Endpoint> addresses)
        : endpoint_{std::move(endpoint)}, addresses_(std::move(addresses)) {}

    [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
    [[nodiscard]] const std::vector<net::Endpoint>& addresses() const noexcept {
        return addresses_;
    }
    // Sets the addresses for new connections. Closes idle connections to others. Those that are in
    // use are closed when they come back.
    void set_addresses(std::vector<net::Endpoint> addresses);

    // Sets TLS for new connections; null means no TLS. server_name: the name that the certificate
    // must be for.
    void set_tls(std::shared_ptr<const tls::Client> tls, std::string server_name) {
        tls_ = std::move(tls);
        server_name_ = std::move(server_name);
    }
    [[nodiscard]] const std::shared_ptr<const tls::Client>& tls() const noexcept { return tls_; }
    [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }

    // Returns a lease on the idle connection used last. Closes connections that their peer has
    // closed, or sent bytes on, and takes the next one: those bytes would be taken for the next
    // response. Returns an empty lease if no connection is left.
    [[nodiscard]] Lease take_idle() noexcept;

    // Returns a lease on a connection that is still to be made.
    [[nodiscard]] Lease make_new(const net::Executor& executor);

    // Closes connections that have been idle for at least `idle`, and those that their peer has
    // closed or sent bytes on.
    void sweep(SteadyTime now, Duration idle) noexcept;

    // Closes the connection that has been idle for longest. Returns false if there is none.
    bool close_oldest() noexcept;

    // Closes the idle connections, and keeps none from then on, for an endpoint that gets no more
    // requests.
    void retire() noexcept;

    [[nodiscard]] std::size_t idle() const noexcept { return idle_.size(); }

  private:
    friend class Lease;
    void give_back(std::unique_ptr<Connection> connection, SteadyTime now) noexcept;
    [[nodiscard]] bool leads_to_address(Connection& connection) const noexcept;

    static constexpr std::size_t max_idle = 1024;

    std::string endpoint_;
    std::vector<net::Endpoint> addresses_;
    std::uint32_t version_ = 0; // counts the changes of addresses_
    std::shared_ptr<const tls::Client> tls_;
    std::string server_name_;
    std::vector<std::unique_ptr<Connection>> idle_; // the last one used is at the back
    bool retired_ = false;
};

} // namespace stint::upstream
