// The whole running gateway: workers, limits, listeners, the access log, and the active
// configuration. Owned by main; everything public is called on the control thread.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "observe/access_log.hpp"
#include "observe/metrics.hpp"
#include "runtime/certificate_watcher.hpp"
#include "runtime/config_store.hpp"
#include "runtime/dry_run.hpp"
#include "runtime/health_checks.hpp"
#include "runtime/listener_set.hpp"
#include "runtime/operator_changes.hpp"
#include "runtime/queue_timer_thread.hpp"
#include "runtime/reload_history.hpp"
#include "runtime/saved_changes.hpp"
#include "runtime/service_manager.hpp"
#include "runtime/upgrade/take_over.hpp"
#include "runtime/upgrade/upgrade.hpp"
#include "runtime/watch/config_watch.hpp"
#include "runtime/watchdog.hpp"
#include "runtime/worker_pool.hpp"
#include "upstream/resolver.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

class Persistence;

// How to start the program anew, for an upgrade.
struct Program {
    std::vector<std::string> arguments;                // the file first
    Duration longest_start = std::chrono::seconds{30}; // the new process is ended then
    bool cold = false; // this process may replace one whose state it does not understand
};

// Listeners that are not the gateway's, on its control loop.
class OtherListeners {
  public:
    // Opens the sockets, or takes them from those that were open at the start. Called by
    // Gateway::start(). No client is accepted yet. The error is one human-readable line.
    [[nodiscard]] virtual Result<void, std::string> open(net::InheritedSockets& inherited) = 0;
    // Returns copies of the listening sockets.
    [[nodiscard]] virtual std::vector<Descriptor> copy_sockets() const = 0;
    // Returns the addresses of Unix sockets whose files are to be removed at the end.
    [[nodiscard]] virtual std::vector<std::string> own_files() const = 0;
    // Accepts no more clients: another process does, and has the sockets' files. Ends connections
    // that are idle.
    virtual void leave() = 0;
    // Calls `idle` once no connection is open any more, at once if none is. Called after leave().
    virtual void await_idle(std::function<void()> idle) = 0;
    // Closes the listeners and every connection. Called after the drain and before run() returns.
    virtual void stop() = 0;

  protected:
    ~OtherListeners() = default;
};

class Gateway {
  public:
    // file, environment: read again by a reload.
    Gateway(
        config::Config config,
        std::filesystem::path file,
        config::Environment environment = {},
        Program program = {});
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Opens every listener and starts the workers. read: the configuration file as it was loaded.
    // The error is one human-readable line.
    [[nodiscard]] Result<void, std::string> start(FileContent read);

    // Serves until SIGTERM, SIGINT or SIGQUIT, then (after timeouts.drain_delay) drains and
    // returns; a second of these cuts both short. SIGHUP reloads the configuration and reopens the
    // access log, SIGUSR1 only reopens the log. With `watch` changed files are reloaded, too.
    // SIGUSR2 starts the program anew, hands everything over to the new process, and drains.
    void run();

    // Reads the configuration file again and puts it in force. After any error the former
    // configuration stays in force. While the gateway is stopping it only returns an error, and
    // last_reload() stays.
    ReloadReport reload(ReloadCause by);
    // Tells what reload() would do. Changes nothing, and is no reload: last_reload() stays.
    [[nodiscard]] DryRun dry_run() const;
    [[nodiscard]] const LastReload& last_reload() const noexcept { return reloads_.last(); }

    // --- for the admin listener ---
    [[nodiscard]] net::asio::io_context& control() noexcept { return control_; }
    [[nodiscard]] const ConfigStore& store() const noexcept { return store_; }
    [[nodiscard]] const config::Config& config() const noexcept { return store_.config(); }
    [[nodiscard]] const Compiled& compiled() const noexcept { return store_.compiled(); }
    [[nodiscard]] const KeyHasher& hasher() const noexcept { return registry_.hasher(); }
    [[nodiscard]] const upstream::AddressBook& addresses() const noexcept { return *addresses_; }
    [[nodiscard]] WorkerPool& pool() noexcept { return pool_; }
    [[nodiscard]] WallTime started_at() const noexcept { return started_at_; }
    // Returns the process that serves clients. Only one that serves them itself can be changed.
    enum class Serving : std::uint8_t { none, this_one, successor };
    [[nodiscard]] Serving serving() const noexcept {
        if (!started_ || stopping_)
            return Serving::none;
        return upgrade_.done() ? Serving::successor : Serving::this_one;
    }
    [[nodiscard]] Now now() const noexcept;
    // Returns the listeners' addresses as bound (port 0 resolved), in the configuration's order.
    [[nodiscard]] std::vector<std::string> listening() const;
    [[nodiscard]] observe::ProcessFigures collect_metrics() const;
    [[nodiscard]] OperatorChanges& changes() noexcept { return changes_; }
    [[nodiscard]] const OperatorChanges& changes() const noexcept { return changes_; }
    // Calls `then`, on any thread, once the operators' changes so far are in the state file or
    // could not be written; at once without a state file.
    void await_saved(std::function<void()> then);
    // Returns the state of the operators' changes in the state file: `any` is true if the file
    // lacks some of them. Without a state file it is false.
    [[nodiscard]] ChangeWriter::Unwritten unsaved() const;
    // The lock manager: the leases of all locks.
    [[nodiscard]] locks::LockManager& locks() noexcept { return openings_.locks(); }

    // Adds the listeners of another user of the control loop, which outlive run(). Call it before
    // start().
    void add(OtherListeners& others) { others_ = &others; }

  private:
    std::vector<std::string> swap_in(LoadedConfigPtr loaded, ListenerSet::Opened opened);
    void apply(LoadedConfigPtr loaded, Compiled compiled, ListenerSet::Opened opened);
    void leave(pid_t successor);
    void publish_changes(const std::vector<LimitChange::Target>& targets);
    void save_changes();
    [[nodiscard]] Compiled first_compiled(const LoadedConfig& loaded);
    [[nodiscard]] ReloadReport read_and_apply();
    void watch_files();
    [[nodiscard]] bool reload_certificates();
    void use(const LoadedConfig& loaded);
    void await_former_holders();
    void await_signal();
    void on_signal(int number);
    void begin_stop();
    void drain(Duration most, std::string_view said);
    void end_control();

    ServiceManager manager_;
    net::asio::io_context control_;
    net::asio::signal_set signals_;
    const std::unique_ptr<TakeOver> taking_over_; // null: no process is replaced
    Upgrade upgrade_;                             // refers to members below
    limits::Registry registry_;
    std::unique_ptr<Persistence> persistence_; // the `state` section; nullptr if it is absent
    observe::AccessLog access_log_;
    QueueTimerThread openings_;
    WorkerPool pool_;
    Watchdog watchdog_;
    ConfigStore store_;
    upstream::Resolver resolver_;
    std::shared_ptr<const upstream::AddressBook> addresses_;
    HealthChecks health_;
    OperatorChanges changes_;
    CertificateWatcher certificates_;
    ConfigWatch watch_;
    ReloadHistory reloads_;
    ListenerSet listeners_;
    OtherListeners* others_ = nullptr;
    net::asio::steady_timer drain_delay_{control_};
    WallTime started_at_{};
    bool started_ = false;
    bool stopping_ = false;
    bool draining_ = false;
};

} // namespace stint::runtime
