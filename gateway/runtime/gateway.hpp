// The whole running gateway: workers, limits, listeners, the access log, and the active
// configuration. Owned by main; everything public is called on the control thread.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "limits/top_keys/heavy_hitters.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "permits/shared.hpp"
#include "runtime/compile.hpp"
#include "runtime/file_stamps.hpp"
#include "runtime/health_checks.hpp"
#include "runtime/live_overrides.hpp"
#include "runtime/queue_timer_thread.hpp"
#include "runtime/tls_objects.hpp"
#include "runtime/worker.hpp"
#include "upstream/resolver.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

class Persistence;

// The result of a reload.
struct ReloadReport {
    bool applied = false;
    std::vector<std::string> errors; // why not applied: "file:line:column: …" each
    std::vector<std::string> notes;  // state that was reset, settings that need a restart
};

class Gateway {
  public:
    Gateway(config::Config config, std::filesystem::path file);
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Opens every listener and starts the workers. The error is one line for a person.
    [[nodiscard]] Result<void, std::string> start();

    // Serves until SIGTERM or SIGINT, then drains and returns. SIGHUP reloads the configuration and
    // reopens the access log; a second SIGTERM or SIGINT cuts the drain short.
    void run();

    // Reads the file again and swaps it in; any error leaves everything unchanged.
    ReloadReport reload();

    // --- for the admin listener ---
    [[nodiscard]] net::asio::io_context& control() noexcept { return control_; }
    [[nodiscard]] const config::Config& config() const noexcept { return config_; }
    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
    [[nodiscard]] const Compiled& compiled() const noexcept { return compiled_; }
    [[nodiscard]] const observe::MetricSlots& slots() const noexcept { return slots_; }
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return registry_.hasher(); }
    [[nodiscard]] const upstream::AddressBook& addresses() const noexcept { return *addresses_; }
    // TLS for the admin listener's next connection; nullptr: plain.
    [[nodiscard]] TlsServerPtr admin_tls() const noexcept { return tls_.admin; }
    [[nodiscard]] std::size_t workers() const noexcept { return workers_.size(); }
    [[nodiscard]] WallTime started_at() const noexcept { return started_at_; }
    [[nodiscard]] bool ready() const noexcept { return started_ && !stopping_; }
    [[nodiscard]] Now now() const noexcept;
    // Returns the listeners' addresses as bound (port 0 resolved), in the configuration's order.
    [[nodiscard]] std::vector<std::string> listening() const;
    [[nodiscard]] observe::ProcessFigures collect_metrics() const;
    // Returns the limit's index in config().limits and compiled().limits.
    [[nodiscard]] std::optional<std::size_t> limit_named(std::string_view name) const noexcept;
    // Returns nullptr if there is no upstream of that name.
    [[nodiscard]] const routing::UpstreamSpec* upstream_named(std::string_view name) const noexcept;
    // Stops new requests to the endpoint, or allows them again. Returns its state, nullptr if the
    // upstream, one of upstream_named(), has no such endpoint.
    upstream::EndpointStatePtr
    set_drained(const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained);
    // Quotas for some keys, set at run time; they outlive a reload while their limit does.
    [[nodiscard]] const LiveOverrides& overrides() const noexcept { return overrides_; }
    // Both publish the change to the workers. put returns false if there are too many; erase if
    // there is none.
    [[nodiscard]] bool put_override(const std::string& limit, LiveOverride override);
    [[nodiscard]] bool erase_override(const std::string& limit, std::string_view pattern);
    // Collects every worker's counters; `done` gets their sum on the control thread.
    void collect(std::function<void(const observe::WorkerCounters&)> done);

    // Collects every worker's heaviest keys of this limit, at most `most` of them; `done` gets the
    // merged list on the control thread.
    void collect_top(
        limits::LimitPtr limit,
        std::size_t most,
        std::function<void(const limits::HeavyHitters::Top&)> done);

    // Asks every worker for the last request with that X-Request-Id; `done` gets the latest of all
    // on the control thread.
    void find_recent(
        const std::string& request_id,
        std::function<void(const std::optional<proxy::RecentRequests::Record>&)> done);

    // State that all workers share.
    [[nodiscard]] proxy::Shared& shared() noexcept { return shared_; }
    // The lock manager: the leases of all locks.
    [[nodiscard]] locks::LockManager& locks() noexcept { return openings_.locks(); }

    // Sets a callback for the end of the drain, before run() returns: other users of the control
    // loop stop there.
    void on_stop(std::function<void()> stop) { stop_others_ = std::move(stop); }

  private:
    using Opened = std::map<std::string, net::ListeningSockets>; // by the address as configured
    struct Bound {
        net::Endpoint address;
        net::SocketFile file; // as it was set last
        Descriptor own = {};  // ListeningSockets::file
        std::uint32_t group;  // ListeningSockets::group
    };

    Result<Opened, std::string> open_new_listeners(const config::Config& config) const;
    void apply(config::Config config, Compiled compiled, Opened opened);
    void await_former_holders();
    void declare_locks(const config::Config& config);
    std::vector<std::string> reload_notes(const config::Config& config, const Compiled& next) const;
    void use(TlsObjects objects, const config::Config& config);
    void watch_certificates();
    void reload_certificates();
    void add_certificates(observe::ProcessFigures& figures) const;
    [[nodiscard]] std::vector<observe::ProcessFigures::EndpointFigures> endpoint_figures() const;
    void publish_overrides();
    void await_end_of_override();
    void forget_overrides(const Compiled& next, std::vector<std::string>& notes);
    void set_socket_files(const config::Config& next, std::vector<std::string>& notes);
    void resolve_names();
    void await_signal();
    void on_signal(int number);
    void begin_stop();
    void end_workers() noexcept;
    void worker_drained();

    net::asio::io_context control_;
    net::asio::signal_set signals_;
    const std::filesystem::path file_;
    config::Config config_;
    limits::Registry registry_;
    std::unique_ptr<Persistence> persistence_; // state:
    upstream::EndpointRegistry endpoints_;
    observe::MetricSlots slots_;
    observe::AccessLog access_log_;
    QueueTimerThread openings_;
    proxy::Shared shared_;
    permits::Shared permits_;
    const std::shared_ptr<tls::TicketKeys> ticket_keys_;
    TlsObjects tls_;
    ChangedFiles certificate_files_;
    Compiled compiled_;
    upstream::Resolver resolver_;
    std::shared_ptr<const upstream::AddressBook> addresses_;
    HealthChecks health_;
    std::map<std::string, Bound> bound_; // listeners by the address as configured
    std::vector<std::unique_ptr<Worker>> workers_;
    LiveOverrides overrides_;
    net::asio::steady_timer override_timer_;
    net::asio::steady_timer certificate_timer_;
    std::function<void()> stop_others_;
    WallTime started_at_{};
    std::uint64_t generation_ = 0;
    std::uint64_t reloads_ = 0;
    std::uint64_t reload_failures_ = 0;
    std::uint64_t certificate_reloads_ = 0;
    std::uint64_t certificate_reload_failures_ = 0;
    std::size_t draining_ = 0; // workers that have not finished
    bool started_ = false;
    bool stopping_ = false;
};

} // namespace stint::runtime
