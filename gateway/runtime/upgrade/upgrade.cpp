#include "runtime/upgrade/upgrade.hpp"

#include "base/bytes.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "net/clock.hpp"
#include "net/types.hpp"
#include "runtime/upgrade/collect_state.hpp"
#include "runtime/upgrade/messages.hpp"

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

// The workers stop at their next handler.
constexpr Duration longest_stop = 1s;
// In this time, in which no request is decided, the new process has to take the state.
constexpr Duration longest_hand_over = 5s;
constexpr Duration longest_send = 1s;

} // namespace

Upgrade::Upgrade(
    const UpgradeParts& parts,
    UpgradeSteps steps,
    std::vector<std::string> program,
    Duration longest_start)
    : parts_{parts}, steps_{std::move(steps)}, program_{std::move(program)},
      longest_start_{longest_start}, timer_{parts.control} {}

Upgrade::~Upgrade() {
    if (done_)
        limits::Permit::report_returns_to(nullptr);
}

void Upgrade::begin() {
    if (done_)
        return spdlog::warn("SIGUSR2: the new process serves already");
    if (process_)
        return spdlog::warn("SIGUSR2: an upgrade is under way");
    if (const std::string why = refusal(); !why.empty())
        return spdlog::error("SIGUSR2: no upgrade: {}", why);
    spdlog::info("SIGUSR2: starting {} anew", program_.front());
    if (const auto started = start(); !started)
        return fail(started.error());
    timer_.expires_after(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(longest_start_));
    timer_.async_wait([this](const ErrorCode& cancelled) {
        const bool of_another = timer_.expiry() > std::chrono::steady_clock::now();
        if (!cancelled && !of_another && under_way())
            fail("it was not ready in time");
    });
    process_->await_message([this](Result<Message> message) { on_message(std::move(message)); });
}

void Upgrade::forbid(std::string why, SteadyTime until) {
    std::erase_if(forbidden_, [&](const auto& each) { return each.second == why; });
    forbidden_.emplace_back(until, std::move(why));
}

// Returns why this gateway cannot be handed over now; else "".
std::string Upgrade::refusal() const {
    const SteadyTime now = net::read_steady_clock();
    const auto found =
        std::ranges::find_if(forbidden_, [now](const auto& each) { return each.first > now; });
    if (found != forbidden_.end())
        return found->second;
    // The new process would have another name, and a session in place of that one.
    for (const stores::StorePtr& each : parts_.store.in_force()->stores)
        if (each->state().session == shared::SessionState::taken)
            return "store " + each->settings().name + ": another process is gateway " +
                   each->settings().gateway + " there";
    return "";
}

Result<void, std::string> Upgrade::start() {
    const auto pause = parts_.pool.pause();
    const bool paused = pause->await(parts_.pool.size(), longest_stop);
    std::vector<Descriptor> sockets;
    if (paused)
        sockets = parts_.pool.copy_listening_sockets();
    pause->end({});
    if (!paused)
        return "the workers are too busy";
    for (Descriptor& each : steps_.other_sockets())
        sockets.push_back(std::move(each));
    if (std::ranges::any_of(sockets, [](const Descriptor& each) { return each.get() < 0; }))
        return "there are too few descriptors";
    auto process = SuccessorProcess::start(parts_.control, program_);
    if (!process)
        return process.error();
    process_ = std::move(*process);
    return send_sockets(std::move(sockets));
}

Result<void, std::string> Upgrade::send_sockets(std::vector<Descriptor> sockets) {
    Message hello{MessageKind::hello};
    put(hello.body, hand_over_version);
    put(hello.body, static_cast<std::uint32_t>(sockets.size()));
    const std::vector<std::string> files = steps_.own_files();
    put(hello.body, static_cast<std::uint32_t>(files.size()));
    for (const std::string& each : files)
        put_text(hello.body, each);
    const GatewayName name = parts_.store.name_in_stores();
    put_text(hello.body, name.made);
    // The session of one that was given up may live on for a while.
    put(hello.body, name.upgrades + ++tried_);
    ErrorCode failed = process_->send(hello, longest_send);
    for (auto next = sockets.begin(); next != sockets.end() && !failed;) {
        const auto count =
            std::min<std::ptrdiff_t>(sockets.end() - next, Channel::most_descriptors);
        Message message{MessageKind::sockets};
        std::move(next, next + count, std::back_inserter(message.descriptors));
        next += count;
        failed = process_->send(message, longest_send);
    }
    if (failed)
        return "its sockets could not be sent: " + failed.message();
    return {};
}

void Upgrade::on_message(Result<Message> message) {
    if (!message)
        return done_ ? void() : fail(process_->ending());
    if (message->kind != MessageKind::prepared || done_)
        return fail("it has sent what it should not have sent");
    timer_.cancel();
    hand_over(message->body != std::string{'\1'});
}

// Blocks the control thread: nothing may be decided or changed until the new process has the state.
void Upgrade::hand_over(bool with_state) {
    const SteadyTime begun = net::read_steady_clock();
    parts_.openings.hold();
    const auto pause = parts_.pool.pause();
    Result<void, std::string> handed = "the workers are too busy";
    bool takes = false; // the new process may be taking the state, or opening its file
    if (pause->await(parts_.pool.size(), longest_stop)) {
        try {
            if (parts_.persistence)
                parts_.persistence->finish();
            handed = send_state(with_state, takes);
            if (handed)
                handed = await_taken();
        } catch (const std::exception& failure) { // no memory
            handed = std::string{failure.what()};
        }
    }
    if (handed) {
        spdlog::info(
            "upgrade: process {} serves; the hand-over took {} ms", process_->id(),
            (net::read_steady_clock() - begun) / 1ms);
        return leave(*pause, with_state);
    }
    if (takes)
        process_->kill(); // before the state file is opened again
    if (parts_.persistence)
        parts_.persistence->go_on();
    pause->end({});
    parts_.openings.go_on();
    fail(handed.error());
}

// with_state: false for a process that takes no state, and may open the state file now. begun: set
// once the new process may have some of it.
Result<void, std::string> Upgrade::send_state(bool with_state, bool& begun) {
    Message message{MessageKind::state};
    if (with_state) {
        const auto state = collect_state(
            parts_.registry, parts_.pool.permits().reported_cooldowns, parts_.openings.locks(),
            parts_.changes.overlay(), parts_.store, parts_.persistence.get());
        if (!state)
            return state.error();
        message.body = encode(*state);
    }
    begun = true;
    if (const ErrorCode failed = process_->send(message, longest_hand_over))
        return "the state could not be sent: " + failed.message();
    return {};
}

Result<void, std::string> Upgrade::await_taken() {
    const auto taken = process_->receive(longest_hand_over);
    if (!taken && taken.error() == net::asio::error::timed_out)
        return std::string{"it has not taken the state in time"};
    if (!taken)
        return process_->ending();
    if (taken->kind != MessageKind::taken)
        return std::string{"it has sent what it should not have sent"};
    return {};
}

// Lets the new process decide. Order of the messages: the pauses, `go`, the connections. Without
// memory for these this process ends at once, and the new one serves.
void Upgrade::leave(WorkersPause& pause, bool with_state) noexcept {
    done_ = true;
    process_->release();
    if (with_state) {
        limits::Permit::report_returns_to(process_.get());
        const SteadyTime now = net::read_steady_clock();
        for (const limits::CooldownSetPtr& each : parts_.registry.cooldowns().alive())
            process_->tell_pauses_of(*each, now);
    }
    steps_.left(process_->id());
    net::asio::post(parts_.control, [this] {
        process_->post({MessageKind::go});
        if (missed_reload_)
            ::kill(process_->id(), SIGHUP);
    });
    const Duration drain = parts_.store.compiled().snapshot->timeouts.drain;
    if (with_state) {
        parts_.pool.hand_over(
            pause, *process_, drain, [this] { process_->post({MessageKind::all_given}); },
            steps_.drained);
    } else { // the new process could not go on with connections: they end here, as before an exit
        parts_.pool.permits().grants_leases = false;
        pause.end({});
        parts_.openings.go_on();
        parts_.pool.drain(drain, steps_.drained);
    }
    process_->await_message([this](Result<Message> message) { on_message(std::move(message)); });
}

void Upgrade::fail(std::string_view why) {
    timer_.cancel();
    if (done_)
        return spdlog::error("upgrade: the new process: {}", why);
    spdlog::error("upgrade: the new process was given up, this one serves on: {}", why);
    process_.reset();
    if (const auto by = std::exchange(missed_reload_, std::nullopt))
        net::asio::post(parts_.control, [this, by] { steps_.reload(*by); });
}

void Upgrade::note_missed_reload(ReloadCause by) noexcept {
    if (under_way())
        missed_reload_ = by;
    else if (done_) // the signal came while this process waited for the other one to take over
        ::kill(process_->id(), SIGHUP);
}

void Upgrade::cancel(std::string_view why) {
    if (under_way())
        fail(why);
}

void Upgrade::finish() {
    if (!done_)
        return;
    parts_.control.restart();
    parts_.control.poll();
    process_->flush(longest_send);
}

} // namespace stint::runtime
