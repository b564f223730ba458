#include "runtime/upgrade/take_over.hpp"

#include "base/bytes.hpp"
#include "net/clock.hpp"
#include "net/types.hpp"
#include "runtime/upgrade/await_stores.hpp"
#include "runtime/upgrade/collect_state.hpp"
#include "runtime/upgrade/successor_process.hpp"
#include "runtime/worker_updates.hpp"

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

// The former process has time limits of its own, and ends this one then.
constexpr Duration longest_wait = 10min;

// The former process serves while this one begins sessions at the stores.
constexpr StoreWaits waits_for_stores{.most = 20s, .if_down = 2s};

// Clients that connect anew wait no longer than that for those that are handed over.
constexpr std::chrono::seconds longest_before_listening{2};

std::string gone(const ErrorCode& error) {
    return "the process to be replaced has given up, or has ended: " + error.message();
}

// True if the other process has ended. It may have left messages unread.
bool peer_is_gone(const ErrorCode& error) {
    return error == net::asio::error::eof || error == net::asio::error::connection_reset ||
           error == net::asio::error::broken_pipe;
}

std::string unexpected() {
    return "the process to be replaced has sent what it should not have sent";
}

} // namespace

TakeOver::TakeOver(Channel channel, const TakeOverParts& parts, bool cold)
    : channel_{std::move(channel)}, parts_{parts}, may_be_cold_{cold}, late_{parts.control} {}

std::unique_ptr<TakeOver>
TakeOver::from(const config::Environment& environment, const TakeOverParts& parts, bool cold) {
    const auto text =
        environment ? environment(SuccessorProcess::variable_of_descriptor) : std::nullopt;
    if (!text)
        return nullptr;
    int descriptor = -1;
    std::from_chars(text->data(), text->data() + text->size(), descriptor);
    if (descriptor < 0 || ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
        return nullptr;
    return std::make_unique<TakeOver>(Channel{Descriptor{descriptor}}, parts, cold);
}

Result<net::InheritedSockets, std::string> TakeOver::greet() {
    auto hello = channel_.receive(longest_wait);
    if (!hello)
        return gone(hello.error());
    ByteReader in{hello->body};
    const auto version = in.take<std::uint32_t>();
    const auto count = in.take<std::uint32_t>();
    std::vector<std::string> own_files;
    for (auto left = in.take<std::uint32_t>(); left > 0 && in.good(); --left)
        own_files.emplace_back(in.take_text());
    if (hello->kind != MessageKind::hello || !in.good())
        return unexpected();
    cold_ = version != hand_over_version;
    if (cold_ && !may_be_cold_)
        return "the running process hands over by version " + std::to_string(version) +
               ", and this program understands " + std::to_string(hand_over_version) +
               ": only with --cold it takes the sockets, and begins all counts anew";
    GatewayName name = parts_.store.name_in_stores();
    if (cold_) { // a number above the former one, which is not known
        name.upgrades = static_cast<std::uint32_t>(net::read_clocks().wall.time_since_epoch() / 1s);
    } else {
        name.made = in.take_text();
        name.upgrades = in.take<std::uint32_t>();
    }
    if (!in.good())
        return unexpected();
    parts_.store.use_name_in_stores(std::move(name));
    std::vector<Descriptor> sockets;
    while (sockets.size() < count) {
        auto more = channel_.receive(longest_wait);
        if (!more)
            return gone(more.error());
        if (more->kind != MessageKind::sockets || more->descriptors.empty())
            return unexpected();
        std::ranges::move(more->descriptors, std::back_inserter(sockets));
    }
    return net::InheritedSockets{std::move(sockets), std::move(own_files)};
}

Result<void, std::string> TakeOver::rehearse(const LoadedConfig& loaded, const Resolve& resolve) {
    if (std::string why_not = reason_to_restart(loaded.config); !why_not.empty())
        return why_not;
    const Compiled trial = parts_.store.compiled_from(
        loaded, parts_.changes.overlay().limits(), parts_.store.generation() + 1);
    resolve(trial.host_names);
    return begin_sessions(loaded, trial);
}

Result<void, std::string>
TakeOver::begin_sessions(const LoadedConfig& loaded, const Compiled& trial) {
    parts_.store.start_stores(loaded);
    auto given = await_stores(loaded.config, trial, loaded.stores, waits_for_stores, [this] {
        return channel_.peer_has_gone();
    });
    if (given || !cold_)
        return given;
    spdlog::warn("upgrade: {}", given.error()); // as after any other start
    return {};
}

Result<std::optional<HandedState>, std::string> TakeOver::await_state() {
    Descriptor readable{::fcntl(channel_.descriptor(), F_DUPFD_CLOEXEC, 0)};
    if (readable.get() < 0)
        return std::string{"there are too few descriptors"};
    readable_.emplace(parts_.control, readable.release());
    parts_.control.restart();
    parts_.control.poll(); // destroys the snapshot of the rehearsal, and its limits with it
    const Message ready{MessageKind::prepared, cold_ ? std::string{'\1'} : std::string{'\0'}};
    if (const ErrorCode failed = channel_.send(ready, longest_wait))
        return gone(failed);
    auto message = channel_.receive(longest_wait);
    if (!message)
        return gone(message.error());
    if (cold_ && message->kind == MessageKind::state)
        return std::optional<HandedState>{}; // the state file can be opened, if there is one
    auto state = message->kind == MessageKind::state ? decode_state(message->body) : std::nullopt;
    if (!state)
        return unexpected();
    (void)parts_.store.ticket_keys()->restore(state->ticket_keys);
    return state;
}

Result<void, std::string> TakeOver::begin(const std::optional<HandedState>& state) {
    const Now now = net::read_clocks();
    slots_ = std::make_unique<HeldSlots>(parts_.registry);
    if (state) {
        slots_->take(state->slots, now);
        for (const ReportedPause& each : state->reported)
            if (const limits::LimitPtr limit = slots_->limit(each.limit))
                (void)parts_.pool.permits().reported_cooldowns.begin(
                    {limit->ordinal(), each.key}, each.pause.status, each.pause.end - now.steady,
                    now.steady);
        for (const DrainedEndpoint& each : state->drained)
            if (const auto* const upstream = parts_.store.upstream_named(each.upstream))
                (void)parts_.changes.set_drained(*upstream, each.endpoint, true, each.by);
    }
    pauses_ = std::make_shared<HandedPauses>(parts_.registry);
    HandedPauses::join_all(pauses_, now.steady);
    if (const ErrorCode failed = channel_.send({MessageKind::taken}, longest_wait);
        failed && !peer_is_gone(failed))
        return gone(failed);
    for (;;) {
        auto message = channel_.receive(longest_wait);
        if (!message && peer_is_gone(message.error()))
            return {}; // it has died, and this process has all that it knew
        if (!message)
            return gone(message.error());
        if (message->kind == MessageKind::go)
            return {};
        early_.push_back(std::move(*message));
    }
}

void TakeOver::serve() {
    for (Message& message : early_)
        take(std::move(message));
    early_.clear();
    if (cold_)
        begin_listening();
    late_.expires_after(longest_before_listening);
    late_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled)
            begin_listening();
    });
    await_message();
}

void TakeOver::await_message() {
    readable_->async_wait(
        net::asio::posix::stream_descriptor::wait_read, [this](const ErrorCode& error) {
            if (error == net::asio::error::operation_aborted)
                return;
            for (;;) {
                Result<Message> message = channel_.receive_now();
                if (message) {
                    take(std::move(*message));
                    continue;
                }
                if (peer_is_gone(message.error()))
                    return end();
                if (message.error() != net::asio::error::would_block)
                    spdlog::error("upgrade: a message is lost: {}", message.error().message());
                return await_message();
            }
        });
}

void TakeOver::take(Message message) {
    const Now now = net::read_clocks();
    switch (message.kind) {
    case MessageKind::connection:
        return take_connection(std::move(message));
    case MessageKind::all_given:
        return serve_waiting();
    case MessageKind::given_back:
        if (const auto given = decode_given_back(message.body))
            slots_->give_back(*given, now);
        return;
    case MessageKind::paused:
        if (const auto pause = decode_pause(message.body))
            pauses_->add(*pause, now.steady);
        return;
    default:
        spdlog::error("upgrade: {}", unexpected());
    }
}

void TakeOver::take_connection(Message message) {
    auto connection = decode_connection(message.body);
    if (!connection || message.descriptors.size() != 1)
        return spdlog::error("upgrade: {}", unexpected());
    connection->socket = std::move(message.descriptors.front());
    if (!listening_ && connection->waiting_since != SteadyTime{})
        return waiting_.push_back(std::move(*connection));
    parts_.pool.go_on_with(next_worker_++, std::move(*connection), [] {});
}

void TakeOver::serve_waiting() {
    std::ranges::stable_sort(waiting_, std::greater{}, &server::HandedConnection::waiting_since);
    serve_next();
}

// Gives the workers one connection after the other, so that their requests wait in the order in
// which they came.
void TakeOver::serve_next() {
    if (waiting_.empty())
        return begin_listening();
    server::HandedConnection connection = std::move(waiting_.back());
    waiting_.pop_back();
    parts_.pool.go_on_with(next_worker_++, std::move(connection), [this] { serve_next(); });
}

// Accepts clients, once those are served that came to the former process before them.
void TakeOver::begin_listening() {
    if (std::exchange(listening_, true))
        return;
    late_.cancel();
    parts_.pool.for_each([&](std::size_t number, Worker& worker) {
        worker.adopt(update_for(
            number, parts_.pool.size(), *parts_.store.in_force(), parts_.store.compiled(),
            parts_.store.slots(), listeners_));
    });
    listeners_.clear();
    if (const auto then = std::exchange(on_listening_, nullptr))
        net::asio::post(parts_.control, then);
}

void TakeOver::await_listening(std::function<void()> then) {
    if (listening_)
        return then();
    spdlog::info("SIGUSR2: the upgrade begins when the former process is replaced");
    on_listening_ = std::move(then);
}

void TakeOver::await_end(std::function<void()> ended) {
    if (!slots_)
        return ended();
    ended_ = std::move(ended);
}

// Calls the function when the workers have gone on with the connections that came last.
void TakeOver::after_turns(std::function<void()> then) {
    parts_.pool.await_posted([this, then] {
        parts_.pool.await_posted([this, then] { parts_.pool.await_posted(then); });
    });
}

void TakeOver::stop() noexcept {
    readable_.reset();
    late_.cancel();
}

// The former process has ended: nothing of it is in flight any more.
void TakeOver::end() {
    if (slots_->size() > 0)
        spdlog::info("upgrade: the former process has ended; {} slots are free", slots_->size());
    slots_.reset();
    readable_.reset();
    channel_ = Channel{};
    if (!listening_)
        serve_waiting();
    pauses_->end();
    if (const auto ended = std::exchange(ended_, nullptr))
        after_turns(ended);
}

} // namespace stint::runtime
