#include "runtime/gateway.hpp"

#include "base/lock_names.hpp"
#include "http/permit_text.hpp"
#include "net/clock.hpp"
#include "runtime/persistence.hpp"
#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

// How long the start waits for host names before it serves without them.
constexpr auto first_resolution = 2s;

observe::AccessLog::Target target_of(const config::AccessLog& log) {
    using Kind = observe::AccessLog::Target::Kind;
    switch (log.target) {
    case config::AccessLog::Target::standard_output:
        return {Kind::standard_output, {}};
    case config::AccessLog::Target::file:
        return {Kind::file, log.path};
    case config::AccessLog::Target::off:
        break;
    }
    return {Kind::off, {}};
}

std::size_t worker_count(const config::Config& config) {
    return config.workers > 0 ? config.workers : usable_cores().size();
}

// By the address as configured.
std::map<std::string, ListenerRole> roles_of(const LoadedConfig& loaded) {
    std::map<std::string, ListenerRole> roles;
    for (const config::Listener& listener : loaded.config.listeners)
        roles[listener.address.text].options = {
            listener.half_close_allowed, listener.proxy_protocol, listener.https_port,
            loaded.tls.listener(listener.address.text)};
    if (loaded.config.permits) {
        const std::string& address = loaded.config.permits->address.text;
        roles[address] = {.options = {.tls = loaded.tls.listener(address)}, .permits = true};
    }
    return roles;
}

SlotCounts counts_of(const observe::MetricSlots& slots) {
    return {
        slots.routes().size(), slots.refusals().size(), slots.upstreams().size(),
        slots.waits().size()};
}

void declare_locks(
    const config::Config& config, const Compiled& compiled, QueueTimerThread& openings) {
    std::vector<locks::LockManager::Declared> declared;
    for (const config::Limit& limit : config.limits)
        if (limit.lock)
            declared.push_back(
                {std::string{lock_name(limit.name)}, limit.quota, limit.lock->max_waiting});
    const std::uint64_t others = config.permits ? config.permits->dynamic_locks : 0;
    openings.locks().configure(
        declared, others, config::LockTerms{}.max_waiting, net::read_clocks());
    for (const ConfiguredLimit& each :
         compiled.limits) // waiters for locks that were not declared before
        if (each.limit->identity().name.starts_with(lock_prefix))
            openings.queue().update_quota(*each.limit, [&](const auto&) { return each.numbers; });
}

std::vector<std::string> texts_of(const config::ConfigErrors& mistakes) {
    std::vector<std::string> texts;
    for (const config::ConfigError& mistake : mistakes)
        texts.push_back(mistake.text());
    return texts;
}

} // namespace

Gateway::Gateway(config::Config config, std::filesystem::path file)
    : signals_{control_},
      access_log_{target_of(config.access_log)}, openings_{registry_, net::read_clocks().wall},
      pool_{control_, registry_, openings_}, store_{std::move(config), std::move(file), registry_},
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
      override_timer_{control_}, certificates_{control_, store_.ticket_keys(), [this] {
                                                   return reload_certificates();
                                               }} {}

Gateway::~Gateway() {
    pool_.end();
    persistence_.reset(); // while the locks are there that it writes
}

Result<void, std::string> Gateway::start() {
    ignore_broken_pipes();
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        signals_.add(number); // one that comes during the start is answered after it
    raise_open_files_limit(config().max_connections);
    pool_.make(worker_count(config()), access_log_);
    auto loaded = store_.read_certificates();
    if (!loaded)
        return loaded.error().front().text();
    auto opened = listeners_.open_new(config(), pool_.size());
    if (!opened)
        return opened.error();
    use(**loaded);
    if (config().state)
        persistence_ = std::make_unique<Persistence>(*config().state, registry_, openings_.locks());
    if (!persistence_ || !persistence_->holders_known())
        await_former_holders();
    Compiled compiled =
        store_.compiled_from(**loaded, overlay_.overrides(), store_.generation() + 1);
    resolve_names(compiled.host_names);
    apply(std::move(*loaded), std::move(compiled), std::move(*opened));
    pool_.start(config().pin_workers);
    started_at_ = net::read_clocks().wall;
    started_ = true;
    certificates_.start();
    for (const std::string& address : listening())
        spdlog::info("listening on {}", address);
    if (config().permits)
        spdlog::info("permits listening on {}", listeners_.bound(config().permits->address));
    return {};
}

// Names are looked up before the first request comes, if that does not take too long.
void Gateway::resolve_names(const upstream::Resolver::Names& names) {
    if (names.empty())
        return;
    const auto tried = std::make_shared<bool>(false);
    resolver_.watch(names, [tried] { *tried = true; });
    const auto deadline = std::chrono::steady_clock::now() + first_resolution;
    while (!*tried && control_.run_one_until(deadline) > 0) {
    }
}

// Keeps locks full after a start: holders from the last process may hold them still, for as long as
// a lease may last.
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
    spdlog::info(
        "locks: who holds which is not known from before: each is full for {} ms", ceil_ms(grace));
}

ReloadReport Gateway::reload() {
    ReloadReport report;
    if (stopping_) {
        report.errors.push_back("the gateway is stopping");
    } else if (auto loaded = store_.read_file(); !loaded) {
        report.errors = texts_of(loaded.error());
    } else if (auto opened = listeners_.open_new((*loaded)->config, pool_.size()); !opened) {
        report.errors.push_back(opened.error());
    } else {
        report.notes = swap_in(std::move(*loaded), std::move(*opened));
        report.applied = true;
    }
    ++(report.applied ? reloads_ : reload_failures_);
    if (report.applied)
        spdlog::info("configuration {} is in force", store_.generation());
    else
        spdlog::error("the configuration was not reloaded, the former one stays in force");
    for (const std::string& error : report.errors)
        spdlog::error("{}", error);
    for (const std::string& note : report.notes)
        spdlog::info("{}", note);
    return report;
}

// Replaces the configuration while traffic flows. Returns the notes on it.
std::vector<std::string> Gateway::swap_in(LoadedConfigPtr loaded, ListenerSet::Opened opened) {
    const auto compiled = [&] {
        return store_.compiled_from(*loaded, overlay_.overrides(), store_.generation() + 1);
    };
    Compiled next = compiled();
    std::vector<std::string> notes = store_.reload_notes(loaded->config, next);
    const std::vector<std::string> forgotten =
        overlay_.forget_overrides(store_.limits_ended_by(next));
    if (!forgotten.empty())
        next = compiled();
    notes.insert(notes.end(), forgotten.begin(), forgotten.end());
    listeners_.set_socket_files(loaded->config, notes);
    resolver_.watch(next.host_names);
    if (loaded->config.max_connections > config().max_connections)
        raise_open_files_limit(loaded->config.max_connections);
    use(*loaded);
    apply(std::move(loaded), std::move(next), std::move(opened));
    return notes;
}

void Gateway::apply(LoadedConfigPtr loaded, Compiled compiled, ListenerSet::Opened opened) {
    const config::Config& config = loaded->config;
    listeners_.adopt(config, opened);
    const std::map<std::string, ListenerRole> roles = roles_of(*loaded);
    pool_.for_each([&](std::size_t number, Worker& worker) {
        WorkerUpdate update{compiled.snapshot, counts_of(store_.slots()), {}, roles};
        for (auto& [name, sockets] : opened)
            update.opened.push_back({name, sockets.address, std::move(sockets.sockets[number])});
        worker.adopt(std::move(update));
    });
    pool_.post([book = addresses_](proxy::Context& context) { context.origins.pools().apply(book); });
    // Posted after the worker has adopted the configuration: no waiter arrives with the former
    // numbers any more.
    pool_.post([changed = store_.with_other_numbers(compiled)](proxy::Context& context) {
        for (const ConfiguredLimit& limit : changed)
            context.wakeups.queue().update_quota(
                *limit.limit, [&](const auto& key) { return limit.numbers_for(key); });
    });
    access_log_.set_target(target_of(config.access_log));
    spdlog::set_level(spdlog::level::from_str(config.log_level));
    store_.put_in_force(std::move(loaded), std::move(compiled));
    declare_locks(store_.config(), store_.compiled(), openings_);
    health_.apply(store_.config(), *store_.compiled().snapshot, *addresses_);
}

// Warns about TLS that is about to be in force, and watches its files.
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
        for (const std::string& mistake : texts_of(loaded.error()))
            spdlog::error("{}", mistake);
        return false;
    }
    use(**loaded);
    Compiled compiled = store_.compiled_from(**loaded, overlay_.overrides(), store_.generation());
    apply(std::move(*loaded), std::move(compiled), {});
    spdlog::info("certificates have changed and were read again");
    return true;
}

bool Gateway::put_override(const std::string& limit, LiveOverride override) {
    if (!overlay_.overrides().put(limit, std::move(override)))
        return false;
    spdlog::info("limit {}: an override was set", limit); // a key may be a secret: it is not logged
    publish_overrides();
    return true;
}

bool Gateway::erase_override(const std::string& limit, std::string_view pattern) {
    if (!overlay_.overrides().erase(limit, pattern))
        return false;
    spdlog::info("limit {}: an override was deleted", limit);
    publish_overrides();
    return true;
}

// Each change of overrides is a snapshot of the same configuration.
void Gateway::publish_overrides() {
    const LoadedConfigPtr same = store_.in_force();
    apply(same, store_.compiled_from(*same, overlay_.overrides(), store_.generation()), {});
    await_end_of_override();
}

void Gateway::await_end_of_override() {
    const auto end = overlay_.overrides().next_end();
    if (!end) {
        override_timer_.cancel();
        return;
    }
    override_timer_.expires_at(*end);
    override_timer_.async_wait([this](const ErrorCode& error) {
        if (error || stopping_)
            return;
        if (overlay_.overrides().expire(net::read_steady_clock()))
            publish_overrides();
        else
            await_end_of_override();
    });
}

upstream::EndpointStatePtr Gateway::set_drained(
    const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained) {
    const auto found =
        std::ranges::find(upstream.endpoints, endpoint, &routing::EndpointSpec::text);
    if (found == upstream.endpoints.end())
        return nullptr;
    if (drained)
        overlay_.drain(upstream.name, found->state, now());
    else
        overlay_.enable(upstream.name, found->state, now());
    spdlog::info(
        "upstream {}: {} was {} by an operator", upstream.name, found->text,
        drained ? "drained" : "enabled");
    return found->state;
}

bool Gateway::end_lease(std::string_view lock, std::string_view lease) {
    const Now at = now();
    const auto id = http::parse_lease(lease);
    if (!id || !locks().end(lock, *id, locks::EndReason::forced, at))
        return false;
    overlay_.note_ended({std::string{lock}, std::string{lease}, at.wall});
    return true;
}

void Gateway::run() {
    await_signal();
    control_.restart();
    control_.run();
    pool_.end();
    if (persistence_)
        persistence_->finish();
}

void Gateway::await_signal() {
    signals_.async_wait([this](const ErrorCode& error, int number) {
        if (error)
            return;
        if (number == SIGHUP) {
            access_log_.reopen();
            (void)reload();
        } else {
            begin_stop();
        }
        await_signal();
    });
}

void Gateway::begin_stop() {
    const bool again = std::exchange(stopping_, true);
    health_.stop();
    certificates_.stop();
    spdlog::info(again ? "stopping at once" : "stopping: finishing the requests in flight");
    pool_.drain(
        again ? Duration{} : compiled().snapshot->timeouts.drain, [this] { end_control(); });
}

void Gateway::end_control() {
    resolver_.stop();
    override_timer_.cancel();
    ErrorCode ignored;
    signals_.cancel(ignored);
    if (stop_others_)
        stop_others_();
    control_.stop();
}

Now Gateway::now() const noexcept {
    return net::read_clocks();
}

std::vector<std::string> Gateway::listening() const {
    return listeners_.bound_listeners(config());
}

std::optional<std::size_t> Gateway::limit_named(std::string_view name) const noexcept {
    const auto& limits = config().limits;
    const auto found = std::ranges::find(limits, name, &config::Limit::name);
    if (found == limits.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - limits.begin());
}

const routing::UpstreamSpec* Gateway::upstream_named(std::string_view name) const noexcept {
    const auto& upstreams = compiled().snapshot->upstreams;
    const auto found = std::ranges::find(upstreams, name, &routing::UpstreamSpec::name);
    return found == upstreams.end() ? nullptr : &*found;
}

} // namespace stint::runtime
