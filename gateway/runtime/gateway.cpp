#include "runtime/gateway.hpp"

#include "net/clock.hpp"
#include "runtime/declared_locks.hpp"
#include "runtime/logged_target.hpp"
#include "runtime/persistence.hpp"
#include "runtime/process.hpp"
#include "runtime/reload_effects.hpp"
#include "runtime/saved_changes.hpp"
#include "runtime/upgrade/collect_state.hpp"
#include "runtime/worker_updates.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

// The start waits this long for the first DNS answers, then serves without the missing ones.
constexpr auto first_resolution = 2s;

constexpr std::string_view drain_begins = "stopping: finishing the requests in flight";

std::size_t worker_count(const config::Config& config) {
    return config.workers.count > 0 ? config.workers.count : usable_cores().size();
}

// Resolves the endpoints' host names before the first request is accepted; waits at most
// first_resolution.
void resolve_names(
    const upstream::Resolver::Names& names,
    upstream::Resolver& resolver,
    net::asio::io_context& control) {
    if (names.empty())
        return;
    const auto tried = std::make_shared<bool>(false);
    resolver.watch(names, [tried] { *tried = true; });
    const auto deadline = std::chrono::steady_clock::now() + first_resolution;
    while (!*tried && control.run_one_until(deadline) > 0) {
    }
}

std::string in_force(std::uint64_t generation) {
    return "configuration " + std::to_string(generation) + " is in force";
}

} // namespace

Gateway::Gateway(
    config::Config config,
    std::filesystem::path file,
    config::Environment environment,
    Program program)
    : manager_{environment}, signals_{control_}, taking_over_{TakeOver::from(
                                                     environment,
                                                     {control_, pool_, registry_, store_, changes_},
                                                     program.cold)},
      upgrade_{
          {control_, pool_, openings_, registry_, store_, changes_, persistence_},
          {.other_sockets =
               [this] {
                   return others_ != nullptr ? others_->copy_sockets() : std::vector<Descriptor>{};
               },
           .own_files =
               [this] {
                   std::vector<std::string> files = listeners_.own_files();
                   if (others_ != nullptr)
                       std::ranges::move(others_->own_files(), std::back_inserter(files));
                   return files;
               },
           .left = [this](pid_t successor) { leave(successor); },
           .reload =
               [this](ReloadCause by) {
                   if (!stopping_)
                       (void)reload(by);
               },
           // The former process ends first: its requests in flight are reported by this one.
           .drained =
               [this] {
                   const auto end = [this] {
                       if (taking_over_)
                           return taking_over_->await_end([this] { end_control(); });
                       end_control();
                   };
                   others_ != nullptr ? others_->await_idle(end) : end();
               }},
          std::move(program.arguments),
          program.longest_start},
      access_log_{config.access_log.target}, openings_{registry_, net::read_clocks().wall},
      pool_{control_, registry_, openings_}, watchdog_{control_, pool_, manager_},
      store_{
          std::move(config), std::move(file), registry_, control_.get_executor(),
          std::move(environment)},
      resolver_{
          control_,
          [this](std::shared_ptr<const upstream::AddressBook> book) {
              addresses_ = book;
              health_.apply(*book);
              pool_.post([book](proxy::Context& context) { context.origins.pools().apply(book); });
          },
          [](const std::string& name, const std::string& reason) {
              spdlog::warn("{} could not be resolved: {}", name, reason);
          }},
      addresses_{std::make_shared<const upstream::AddressBook>()}, health_{control_.get_executor()},
      changes_{
          control_, openings_.locks(), openings_.queue(),
          [this](const auto& targets) { publish_changes(targets); }},
      certificates_{control_, store_.ticket_keys(), [this] { return reload_certificates(); }},
      watch_{
          control_,
          {.everything = [this] { (void)reload(ReloadCause::watch); },
           .certificates = [this] { certificates_.read_again(); }}} {}

Gateway::~Gateway() {
    if (taking_over_ && !started_)
        listeners_.disown(); // the process that was to be replaced serves on, with their files
    store_.stop_stores();    // before the workers end, to which the stores post answers
    pool_.end();
    persistence_.reset(); // writes leases, so the lock manager must still exist
}

Result<void, std::string> Gateway::start(FileContent read) {
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2})
        signals_.add(number); // a signal during the start is handled once run() is called
    deliver_held_signals();
    raise_open_files_limit(config().load.max_connections);
    pool_.make(worker_count(config()), access_log_);
    store_.begin_with(std::move(read));
    if (taking_over_) {
        auto sockets = taking_over_->greet();
        if (!sockets)
            return sockets.error();
        manager_.sockets() = std::move(*sockets);
    }
    auto loaded = store_.read_certificates();
    if (!loaded)
        return loaded.error().front().text();
    auto opened = listeners_.open_new(config(), pool_.size(), manager_.sockets());
    if (!opened)
        return opened.error();
    if (others_ != nullptr)
        if (auto others = others_->open(manager_.sockets()); !others)
            return others.error();
    use(**loaded);
    Result<std::optional<HandedState>, std::string> handed = std::optional<HandedState>{};
    if (taking_over_) {
        const auto rehearsed = taking_over_->rehearse(
            **loaded, [this](const auto& names) { resolve_names(names, resolver_, control_); });
        if (!rehearsed)
            return rehearsed.error();
        handed = taking_over_->await_state();
    }
    if (!handed)
        return handed.error();
    if (config().state || *handed) {
        persistence_ = std::make_unique<Persistence>(
            config().state.value_or(config::State{}), registry_, openings_.locks(),
            *handed ? std::optional{(*handed)->contents} : std::nullopt);
        if (persistence_->closed())
            upgrade_.forbid(
                "limits have started closed (on_start), which is not handed over: restart instead",
                SteadyTime::max());
        // Makes the stores again: this gateway's name in them is derived from a key that the state
        // file keeps. One that takes over has a name, and sessions.
        if (!config().stores.empty() && !taking_over_)
            if (auto named = store_.read_certificates())
                loaded = std::move(named);
    }
    if (!persistence_ || !persistence_->holders_known())
        await_former_holders();
    Compiled compiled = first_compiled(**loaded);
    if (!taking_over_)
        resolve_names(compiled.host_names, resolver_, control_);
    apply(std::move(*loaded), std::move(compiled), std::move(*opened));
    changes_.start();
    save_changes();       // erases changes from the file that are not in force
    return_free_memory(); // reading a large file takes more memory than its configuration keeps
    pool_.start(config().workers.pin);
    if (taking_over_) {
        if (auto begun = taking_over_->begin(*handed); !begun)
            return begun.error();
        access_log_.reopen(); // a signal to do so may have reached the former process alone
        taking_over_->serve();
    }
    started_at_ = net::read_clocks().wall;
    reloads_.begin(started_at_);
    started_ = true;
    certificates_.start();
    watch_files();
    for (const std::string& address : listening())
        spdlog::info("listening on {}", address);
    if (config().permits)
        spdlog::info("permits listening on {}", listeners_.bound(config().permits->address));
    return {};
}

// Serves no new client any more: another process does. What is in flight ends here.
void Gateway::leave(pid_t successor) {
    manager_.replaced_by(successor);
    draining_ = true;
    drain_delay_.cancel();
    watchdog_.drain();
    watch_.stop();
    health_.stop();
    certificates_.stop();
    listeners_.disown();
    if (others_ != nullptr)
        others_->leave();
}

// Reports every lock as full for a while after a start: clients of the last process may still hold
// leases that this process does not know. Lasts for start_up_grace, by default the longest ttl of a
// lease.
void Gateway::await_former_holders() {
    if (!config().permits)
        return;
    const Duration grace = config().permits->start_up_grace.value_or(config().permits->max_ttl);
    const Now now = net::read_clocks();
    if (persistence_)
        persistence_->holders_known_from(now.steady + grace);
    if (grace == Duration::zero())
        return;
    openings_.locks().keep_closed_until(now.steady + grace, now);
    upgrade_.forbid("locks are full until start_up_grace is over", now.steady + grace);
    spdlog::info(
        "locks: their holders from before the start are not known: each lock is full for {} ms",
        ceil_ms(grace));
}

ReloadReport Gateway::reload(ReloadCause by) {
    if (serving() != Serving::this_one ||
        upgrade_.under_way()) { // says nothing of the configuration: not counted
        const std::string why =
            stopping_ ? "the gateway is stopping" : "the program is being replaced";
        spdlog::warn("the configuration is not read again: {}", why);
        if (by != ReloadCause::api)
            upgrade_.note_missed_reload(by);
        return {.applied = false, .errors = {{why}}, .notes = {}};
    }
    manager_.reloading(net::read_steady_clock());
    const WallTime at = now().wall;
    ReloadReport report = read_and_apply();
    if (report.applied)
        spdlog::info("{}", in_force(store_.generation()));
    else
        spdlog::error("the configuration was not reloaded, the former one stays in force");
    for (const ReloadError& error : report.errors)
        spdlog::error("{}", error.text);
    for (const std::string& note : report.notes)
        spdlog::info("{}", note);
    reloads_.add({at, by, report});
    watch_files();
    manager_.ready(
        in_force(store_.generation()) + (report.applied ? "" : ": the last reload has failed"));
    return report;
}

DryRun Gateway::dry_run() const {
    return runtime::dry_run(store_, changes_.overlay().limits(), listeners_);
}

// Watches what the last reload has read. Only while all of it is in force, the watch stands in for
// CertificateWatcher: a configuration file with a mistake must not keep certificates from being
// renewed.
void Gateway::watch_files() {
    const bool applied = reloads_.last().report.applied;
    watch_.use(store_.tried(), applied, config().watch);
    certificates_.leave_files(config().watch && applied);
}

// The part of a reload that may fail.
ReloadReport Gateway::read_and_apply() {
    ReloadReport report;
    if (auto loaded = store_.read_file(); !loaded) {
        report.errors = errors_of(loaded.error());
    } else if (std::string pair =
                   store_.refused_pair_in((*loaded)->config, changes_.overlay().limits());
               !pair.empty()) {
        report.errors.push_back({std::move(pair)});
    } else if (auto opened =
                   listeners_.open_new((*loaded)->config, pool_.size(), manager_.sockets());
               !opened) {
        report.errors.push_back({opened.error()});
    } else {
        report.notes = swap_in(std::move(*loaded), std::move(*opened));
        report.applied = true;
    }
    return report;
}

// Puts a configuration in force while traffic flows. Returns the notes for ReloadReport.
std::vector<std::string> Gateway::swap_in(LoadedConfigPtr loaded, ListenerSet::Opened opened) {
    const std::uint64_t generation = store_.generation() + 1;
    const LimitChanges& changes = changes_.overlay().limits();
    Compiled next = store_.compiled_from(*loaded, changes, generation);
    const CounterEffects counters = counter_effects(config(), loaded->config);
    std::vector<std::string> notes = reload_notes(config(), loaded->config, counters);
    const std::vector<std::string> forgotten = changes_.forget_limits(counters.forgotten());
    if (!forgotten.empty())
        next = store_.compiled_from(*loaded, changes, generation);
    notes.insert(notes.end(), forgotten.begin(), forgotten.end());
    listeners_.set_socket_files(loaded->config, notes);
    resolver_.watch(next.host_names);
    if (loaded->config.load.max_connections > config().load.max_connections)
        raise_open_files_limit(loaded->config.load.max_connections);
    use(*loaded);
    apply(std::move(loaded), std::move(next), std::move(opened));
    save_changes();
    return notes;
}

void Gateway::apply(LoadedConfigPtr loaded, Compiled compiled, ListenerSet::Opened opened) {
    const config::Config& config = loaded->config;
    listeners_.adopt(config, opened);
    if (std::string why = reason_to_restart(config); !why.empty())
        upgrade_.forbid(std::move(why), SteadyTime::max());
    if (taking_over_ && !started_)
        taking_over_->keep(std::exchange(opened, {}));
    pool_.for_each([&](std::size_t number, Worker& worker) {
        WorkerUpdate update =
            update_for(number, pool_.size(), *loaded, compiled, store_.slots(), opened);
        worker.adopt(std::move(update));
    });
    pool_.post(
        [book = addresses_](proxy::Context& context) { context.origins.pools().apply(book); });
    renumber_queues(pool_, store_.with_other_numbers(compiled));
    access_log_.set_target(config.access_log.target);
    spdlog::set_level(spdlog::level::from_str(config.log_level));
    store_.put_in_force(std::move(loaded), std::move(compiled));
    declare_locks(
        store_.config(), store_.compiled(), store_.in_force()->stores, openings_.locks(),
        openings_.queue());
    health_.apply(store_.config(), *store_.compiled().snapshot, *addresses_);
}

// Logs the TLS warnings of a configuration that is about to be in force, and starts to watch its
// TLS files.
void Gateway::use(const LoadedConfig& loaded) {
    for (const std::string& warning : loaded.tls.warnings)
        spdlog::warn("{}", warning);
    for (const config::Upstream& upstream : loaded.config.upstreams)
        if (loaded.tls.upstream(upstream.name) && !upstream.tls.verify)
            spdlog::warn(
                "upstream {}: verify is false: anybody on the way can read and change what is sent",
                upstream.name);
    certificates_.use(loaded.tls.files());
}

bool Gateway::reload_certificates() {
    auto loaded = store_.read_certificates();
    if (!loaded) {
        spdlog::error("certificates have changed and cannot be used, the former ones stay");
        for (const config::ConfigError& mistake : loaded.error())
            spdlog::error("{}", mistake.text());
        return false;
    }
    use(**loaded);
    Compiled compiled =
        store_.compiled_from(**loaded, changes_.overlay().limits(), store_.generation());
    apply(std::move(*loaded), std::move(compiled), {});
    spdlog::info("certificates have changed and were read again");
    return true;
}

// Gives the workers the limits with the operators' present changes, and saves these changes.
void Gateway::publish_changes(const std::vector<LimitChange::Target>& targets) {
    std::set<std::string> limits;
    for (const LimitChange::Target& each : targets)
        limits.insert(each.limit);
    std::vector<ConfiguredLimit> changed =
        store_.change_limits(limits, changes_.overlay().limits());
    pool_.for_each([&](std::size_t, Worker& worker) {
        worker.adopt_terms(compiled().snapshot, counts_of(store_.slots()));
    });
    renumber_queues(pool_, std::move(changed));
    if (!persistence_)
        return;
    for (const LimitChange::Target& each : targets) {
        const LimitChange* const change = changes_.overlay().limits().find(each);
        const std::string text =
            logged_target(each, compiled(), hasher(), config().access_log.rules.key);
        if (change == nullptr)
            persistence_->save_change(each, {}, text + " has ended, but a restart brings it back");
        else
            persistence_->save_change(
                each, with_identity(*change, compiled()),
                text + " is in force, but not kept over a restart");
    }
}

void Gateway::save_changes() {
    if (!persistence_)
        return;
    std::vector<SavedChange> saved;
    for (const auto& [target, change] : changes_.overlay().limits().all())
        if (auto each = with_identity(change, compiled()))
            saved.push_back(std::move(*each));
    persistence_->save_changes(saved);
}

void Gateway::await_saved(std::function<void()> then) {
    if (persistence_)
        persistence_->await_changes(std::move(then));
    else
        then();
}

ChangeWriter::Unwritten Gateway::unsaved() const {
    return persistence_ && config().state ? persistence_->unwritten_changes()
                                          : ChangeWriter::Unwritten{};
}

// Compiles the first configuration with the changes that operators made before the restart.
Compiled Gateway::first_compiled(const LoadedConfig& loaded) {
    const std::uint64_t generation = store_.generation() + 1;
    const LimitChanges& changes = changes_.overlay().limits();
    Compiled compiled = store_.compiled_from(loaded, changes, generation);
    if (!persistence_)
        return compiled;
    changes_.restore(still_valid(persistence_->take_saved_changes(), compiled), loaded.config);
    return changes.empty() ? compiled : store_.compiled_from(loaded, changes, generation);
}

void Gateway::run() {
    for (const std::string& address : manager_.sockets().close_rest())
        spdlog::warn(
            "the {} has opened {}, where no listener is configured: it is closed",
            taking_over_ ? "former process" : "service manager", address);
    watchdog_.start();
    manager_.ready(in_force(store_.generation()));
    await_signal();
    control_.restart();
    control_.run();
    store_.stop_stores(); // before the workers end, to which the stores post answers
    pool_.end();
    if (persistence_)
        persistence_->finish();
    upgrade_.finish();
}

void Gateway::await_signal() {
    signals_.async_wait([this](const ErrorCode& error, int number) {
        if (error)
            return;
        on_signal(number);
        await_signal();
    });
}

void Gateway::on_signal(int number) {
    switch (number) {
    case SIGHUP:
        access_log_.reopen();
        (void)reload(ReloadCause::signal);
        return;
    case SIGUSR1:
        spdlog::info("SIGUSR1: reopening the access log");
        return access_log_.reopen();
    case SIGUSR2:
        if (stopping_)
            return spdlog::warn("SIGUSR2: the gateway is stopping");
        if (!taking_over_)
            return upgrade_.begin();
        return taking_over_->await_listening([this] {
            if (!stopping_)
                upgrade_.begin();
        });
    default:
        begin_stop();
    }
}

void Gateway::begin_stop() {
    const bool again = std::exchange(stopping_, true);
    upgrade_.cancel("the gateway is stopping");
    if (upgrade_.done())
        return again ? drain({}, "stopping at once")
                     : spdlog::info("stopping: the requests in flight are being finished");
    manager_.stopping();
    watch_.stop();
    certificates_.leave_files(false); // clients may still come for as long as drain_delay
    if (again)
        return drain({}, "stopping at once");
    const routing::SnapshotPtr& snapshot = compiled().snapshot;
    const Duration delay = snapshot->timeouts.drain_delay;
    if (delay <= Duration{})
        return drain(snapshot->timeouts.drain, drain_begins);
    spdlog::info(
        "stopping: not ready any more; the drain begins in {} ms",
        delay / std::chrono::milliseconds{1});
    drain_delay_.expires_after(delay);
    drain_delay_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled && !draining_) // a second signal may have come in the same turn
            drain(compiled().snapshot->timeouts.drain, drain_begins);
    });
}

// Begins the drain, or gives it another end. said: in the log.
void Gateway::drain(Duration most, std::string_view said) {
    draining_ = true;
    drain_delay_.cancel();
    watchdog_.drain();
    health_.stop();
    certificates_.stop();
    spdlog::info(said);
    pool_.drain(most, [this] { end_control(); });
}

// Ends the control loop after the drain. Until then operators' changes still expire.
void Gateway::end_control() {
    watchdog_.stop();
    changes_.stop();
    resolver_.stop();
    ErrorCode ignored;
    signals_.cancel(ignored);
    if (taking_over_)
        taking_over_->stop();
    if (others_ != nullptr)
        others_->stop();
    control_.stop();
}

Now Gateway::now() const noexcept {
    return net::read_clocks();
}

std::vector<std::string> Gateway::listening() const {
    return listeners_.bound_listeners(config());
}

} // namespace stint::runtime
