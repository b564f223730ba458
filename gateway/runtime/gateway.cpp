#include "runtime/gateway.hpp"

#include "base/lock_names.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "runtime/persistence.hpp"
#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
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

// Those that let some key have more or less than before, as far as one can see.
std::vector<ConfiguredLimit> with_other_numbers(const Compiled& former, const Compiled& next) {
    std::vector<ConfiguredLimit> changed;
    for (const ConfiguredLimit& each : next.limits)
        for (const ConfiguredLimit& before : former.limits)
            if (before.limit == each.limit &&
                (before.numbers != each.numbers || before.rules != each.rules))
                changed.push_back(each);
    return changed;
}

// All that the workers listen on.
std::vector<config::Address> addresses_of(const config::Config& config) {
    std::vector<config::Address> addresses;
    for (const config::Listener& listener : config.listeners)
        addresses.push_back(listener.address);
    if (config.permits)
        addresses.push_back(config.permits->address);
    return addresses;
}

net::SocketFile file_of(const config::Address& address) {
    return {address.mode, address.group_id};
}

std::size_t worker_count(const config::Config& config) {
    return config.workers > 0 ? config.workers : usable_cores().size();
}

} // namespace

Gateway::Gateway(config::Config config, std::filesystem::path file)
    : signals_{control_}, file_{std::move(file)}, config_{std::move(config)},
      access_log_{target_of(config_.access_log)}, openings_{registry_, net::read_clocks().wall},
      shared_{registry_.hasher(), openings_.queue()}, permits_{registry_, openings_.locks()},
      ticket_keys_{std::make_shared<tls::TicketKeys>(net::read_steady_clock())},
      resolver_{
          control_,
          [this](std::shared_ptr<const upstream::AddressBook> book) {
              addresses_ = book;
              health_.apply(*book);
              for (const auto& worker : workers_)
                  worker->post([book](proxy::Context& context) { context.pools.apply(book); });
          },
          [](const std::string& name, const std::string& reason) {
              spdlog::warn("{} could not be resolved: {}", name, reason);
          }},
      addresses_{std::make_shared<const upstream::AddressBook>()}, health_{control_.get_executor()},
      override_timer_{control_}, certificate_timer_{control_} {}

Gateway::~Gateway() {
    end_workers();
    persistence_.reset(); // while the locks are there that it writes
    for (const auto& [name, bound] : bound_)
        net::remove_socket_file(bound.address, bound.own);
}

Result<void, std::string> Gateway::start() {
    ignore_broken_pipes();
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        signals_.add(number); // one that comes during the start is answered after it
    raise_open_files_limit(config_.max_connections);
    for (std::size_t i = 0; i < worker_count(config_); ++i)
        workers_.push_back(std::make_unique<Worker>(shared_, permits_, access_log_.open_channel()));
    auto objects = load_tls(config_, file_, tls_, ticket_keys_);
    if (!objects)
        return objects.error().front().text();
    auto opened = open_new_listeners(config_);
    if (!opened)
        return opened.error();
    use(std::move(*objects), config_);
    if (config_.state)
        persistence_ = std::make_unique<Persistence>(*config_.state, registry_, openings_.locks());
    if (!persistence_ || !persistence_->holders_known())
        await_former_holders();
    Compiled compiled =
        compile(config_, registry_, slots_, ++generation_, overrides_, tls_, &endpoints_);
    compiled_.host_names = compiled.host_names;
    resolve_names();
    apply(config_, std::move(compiled), std::move(*opened));
    start_workers(workers_, config_.pin_workers);
    started_at_ = net::read_clocks().wall;
    started_ = true;
    watch_certificates();
    for (const std::string& address : listening())
        spdlog::info("listening on {}", address);
    if (config_.permits)
        spdlog::info(
            "permits listening on {}",
            net::to_text(bound_.at(config_.permits->address.text).address));
    return {};
}

// Names are looked up before the first request comes, if that does not take too long.
void Gateway::resolve_names() {
    if (compiled_.host_names.empty())
        return;
    const auto tried = std::make_shared<bool>(false);
    resolver_.watch(compiled_.host_names, [tried] { *tried = true; });
    const auto deadline = std::chrono::steady_clock::now() + first_resolution;
    while (!*tried && control_.run_one_until(deadline) > 0) {
    }
}

// An operator's own chmod stays: only what the configuration has changed is set.
void Gateway::set_socket_files(const config::Config& next, std::vector<std::string>& notes) {
    for (const config::Address& address : addresses_of(next)) {
        const auto open = bound_.find(address.text);
        const net::SocketFile file = file_of(address);
        if (open == bound_.end() || open->second.file == file)
            continue;
        net::SocketFile wanted = file;
        if (!file.group && open->second.file.group)
            wanted.group = open->second.group;
        if (const ErrorCode failed =
                net::set_socket_file(open->second.address, open->second.own, wanted))
            notes.push_back(
                address.text + ": its mode or group could not be set: " + failed.message());
        else
            open->second.file = file;
    }
}

Result<Gateway::Opened, std::string>
Gateway::open_new_listeners(const config::Config& config) const {
    Opened opened;
    const auto give_up = [&](const config::Address& address, const ErrorCode& error) {
        for (const auto& [name, sockets] : opened)
            net::remove_socket_file(sockets.address, sockets.file);
        return "cannot listen on " + address.text + ": " + error.message();
    };
    for (const config::Address& address : addresses_of(config)) {
        if (bound_.contains(address.text))
            continue;
        const Result<net::Endpoint> endpoint = address.kind == config::Address::Kind::unix_socket
                                                   ? net::unix_endpoint(address.host)
                                                   : net::ip_endpoint(address.host, address.port);
        if (!endpoint)
            return give_up(address, endpoint.error());
        Result<net::ListeningSockets> sockets =
            net::open_listeners(*endpoint, workers_.size(), file_of(address));
        if (!sockets)
            return give_up(address, sockets.error());
        opened.emplace(address.text, std::move(*sockets));
    }
    return opened;
}

void Gateway::apply(config::Config config, Compiled compiled, Opened opened) {
    std::map<std::string, ListenerRole> wanted;
    for (const config::Listener& listener : config.listeners)
        wanted[listener.address.text].options = {
            listener.half_close_allowed, listener.proxy_protocol, listener.https_port,
            tls_.listener(listener.address.text)};
    if (config.permits) {
        const std::string& address = config.permits->address.text;
        wanted[address] = {.options = {.tls = tls_.listener(address)}, .permits = true};
    }
    for (const config::Address& address : addresses_of(config))
        if (const auto sockets = opened.find(address.text); sockets != opened.end())
            bound_[address.text] = {
                sockets->second.address, file_of(address), std::move(sockets->second.file),
                sockets->second.group};
    std::erase_if(bound_, [&](const auto& listener) {
        const bool gone = !wanted.contains(listener.first);
        if (gone)
            net::remove_socket_file(listener.second.address, listener.second.own);
        return gone;
    });

    const std::vector<ConfiguredLimit> changed = with_other_numbers(compiled_, compiled);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        WorkerUpdate adoption{
            compiled.snapshot,
            {slots_.routes().size(), slots_.refusals().size(), slots_.upstreams().size(),
             slots_.waits().size()},
            {},
            wanted};
        for (auto& [name, sockets] : opened)
            adoption.opened.push_back({name, sockets.address, std::move(sockets.sockets[i])});
        workers_[i]->adopt(std::move(adoption));
        workers_[i]->post(
            [book = addresses_](proxy::Context& context) { context.pools.apply(book); });
        // Posted after the worker has adopted the configuration: no waiter arrives with the former
        // numbers any more.
        workers_[i]->post([changed](proxy::Context& context) {
            for (const ConfiguredLimit& limit : changed)
                context.wakeups.queue().update_quota(
                    *limit.limit, [&](const auto& key) { return limit.numbers_for(key); });
        });
    }
    access_log_.set_target(target_of(config.access_log));
    spdlog::set_level(spdlog::level::from_str(config.log_level));
    std::vector<limits::LimitPtr> kept;
    for (const ConfiguredLimit& each : compiled.limits)
        kept.push_back(each.limit);
    registry_.keep(std::move(kept));
    config_ = std::move(config);
    compiled_ = std::move(compiled);
    declare_locks(config_);
    health_.apply(config_, *compiled_.snapshot, *addresses_);
}

// Keeps locks full after a start: holders from the last process may hold them still, for as long as
// a lease may last.
void Gateway::await_former_holders() {
    if (!config_.permits)
        return;
    const Duration grace = config_.permits->start_up_grace.value_or(config_.permits->max_ttl);
    const Now now = net::read_clocks();
    if (persistence_)
        persistence_->holders_known_from(now.steady + grace);
    if (grace == Duration::zero())
        return;
    openings_.locks().keep_closed_until(now.steady + grace, now);
    spdlog::info(
        "locks: who holds which is not known from before: each is full for {} ms", ceil_ms(grace));
}

void Gateway::declare_locks(const config::Config& config) {
    std::vector<locks::LockManager::Declared> declared;
    for (const config::Limit& limit : config.limits)
        if (limit.lock)
            declared.push_back(
                {std::string{lock_name(limit.name)}, limit.quota, limit.lock->max_waiting});
    const std::uint64_t others = config.permits ? config.permits->dynamic_locks : 0;
    openings_.locks().configure(
        declared, others, config::LockTerms{}.max_waiting, net::read_clocks());
    for (const ConfiguredLimit& each :
         compiled_.limits) // waiters for locks that were not declared before
        if (each.limit->identity().name.starts_with(lock_prefix))
            openings_.queue().update_quota(*each.limit, [&](const auto&) { return each.numbers; });
}

void Gateway::run() {
    await_signal();
    control_.restart();
    control_.run();
    end_workers();
    if (persistence_)
        persistence_->finish();
}

// All threads first: until they have ended, each may look at the others.
void Gateway::end_workers() noexcept {
    for (const auto& worker : workers_)
        worker->stop();
    workers_.clear();
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
    if (number == SIGHUP) {
        access_log_.reopen();
        (void)reload();
    } else {
        begin_stop();
    }
}

void Gateway::begin_stop() {
    const bool again = std::exchange(stopping_, true);
    health_.stop();
    spdlog::info(again ? "stopping at once" : "stopping: finishing the requests in flight");
    const Duration most = again ? Duration{} : compiled_.snapshot->timeouts.drain;
    if (!again)
        draining_ = workers_.size();
    for (const auto& worker : workers_)
        worker->drain(most, [this] { net::asio::post(control_, [this] { worker_drained(); }); });
}

void Gateway::worker_drained() {
    if (draining_ == 0 || --draining_ > 0)
        return;
    resolver_.stop();
    override_timer_.cancel();
    certificate_timer_.cancel();
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
    std::vector<std::string> addresses;
    for (const config::Listener& listener : config_.listeners)
        if (const auto bound = bound_.find(listener.address.text); bound != bound_.end())
            addresses.push_back(net::to_text(bound->second.address));
    return addresses;
}

std::optional<std::size_t> Gateway::limit_named(std::string_view name) const noexcept {
    const auto found = std::ranges::find(config_.limits, name, &config::Limit::name);
    if (found == config_.limits.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - config_.limits.begin());
}

} // namespace stint::runtime
