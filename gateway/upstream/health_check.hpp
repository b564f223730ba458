// Active health checks of one endpoint: a request at each interval, on a connection of its own.
#pragma once

#include "base/time.hpp"
#include "net/alarm.hpp"
#include "net/handler_memory.hpp"
#include "net/types.hpp"
#include "upstream/endpoint_state.hpp"
#include "upstream/health_record.hpp"
#include "upstream/pool.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stint::upstream {

struct HealthSpec {
    std::string path;
    std::string host; // value of Host, as in proxied requests
    // Bytes sent before the request: a PROXY header that names no client, or nothing.
    std::string proxy_protocol_header;
    Duration interval{};
    Duration timeout{}; // limit for a whole check, connecting included
    HealthRules rules;
    struct Statuses {
        int first = 200;
        int last = 299;
        friend bool operator==(const Statuses&, const Statuses&) = default;
    };
    std::vector<Statuses> expect;

    [[nodiscard]] bool expects(int status) const noexcept;
    friend bool operator==(const HealthSpec&, const HealthSpec&) = default;
};

// Used on the control thread. Must be held by a shared_ptr: a check that is pending at stop() ends
// in a later turn of the event loop. The checks start from the endpoint's current health; a new
// endpoint is healthy.
class HealthCheck : public std::enable_shared_from_this<HealthCheck> {
  public:
    // owner: the upstream's name, for the log.
    HealthCheck(
        const net::Executor& executor,
        std::string owner,
        HealthSpec spec,
        EndpointStatePtr endpoint,
        std::vector<net::Endpoint> addresses);

    [[nodiscard]] const HealthSpec& spec() const noexcept { return spec_; }
    // Sets the addresses of a host name. They are tried as for a proxied request.
    void set_addresses(std::vector<net::Endpoint> addresses) {
        pool_.set_addresses(std::move(addresses));
    }

    // Sets TLS for the connections of the checks, as Pool::set_tls() does.
    void set_tls(std::shared_ptr<const tls::Client> tls, std::string server_name) {
        pool_.set_tls(std::move(tls), std::move(server_name));
    }

    // Starts the checks. The first one comes after `delay`.
    void start(Duration delay);
    // Ends the checks, also one that is pending. The endpoint keeps its last health.
    void stop() noexcept;

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;
    struct Result {
        bool passed = false;
        std::string found; // the status, or why there was none
    };

    static net::Task<> run(std::shared_ptr<HealthCheck> self, SteadyTime first);
    net::Task<Result> ask();
    net::Task<Result> talk(Lease& lease);
    net::Task<Result> read_status(Lease& lease);
    void arm_timeout();
    void take(Result result, SteadyTime began);

    const net::Executor executor_;
    const std::string owner_;
    const HealthSpec spec_;
    const std::string request_;
    const EndpointStatePtr endpoint_;
    Pool pool_;
    HealthRecord record_;
    Timer timeout_;
    const std::shared_ptr<net::Alarm> alarm_;
    Lease* asking_ = nullptr; // lease of the pending check, else null
    std::uint64_t round_ = 0;
    net::HandlerMemory read_memory_;
    bool timed_out_ = false;
    bool stopped_ = false;
};

} // namespace stint::upstream
