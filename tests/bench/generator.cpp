#include "generator.hpp"

#include "cpu_use.hpp"
#include "loopback.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <sys/epoll.h>
#include <unistd.h>

namespace stint::bench {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::size_t most_opening = 128; // at once, where connections are held
constexpr std::uint64_t most_failed = 10'000;

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::int64_t nanoseconds(double seconds) {
    return static_cast<std::int64_t>(seconds * static_cast<double>(second));
}

} // namespace

Generator::Generator(const LoadOptions& options)
    : options_(options), request_(options.request), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    connections_.reserve(options.connections);
    for (std::uint32_t number = 0; number < options.connections; ++number) {
        connections_.emplace_back(epoll_, number);
        free_.push_back(number);
    }
}

Generator::~Generator() {
    ::close(epoll_);
}

LoadResults Generator::run() {
    const bool whole =
        options_.count > 0 || options_.hold; // all is counted, from the first request on
    begun_ = now_ns();
    measured_from_ = begun_ + (whole ? 0 : nanoseconds(options_.warm));
    measured_to_ = std::numeric_limits<Nanoseconds>::max();
    while (!over()) {
        if (!measuring_ && now_ns() >= measured_from_)
            begin_measuring(whole);
        issue();
        wait();
        if (results_.failed > most_failed)
            throw std::runtime_error("too many requests failed");
    }
    const CpuUse after = used();
    results_.seconds = static_cast<double>(now_ns() - measured_from_) / static_cast<double>(second);
    results_.cpu = {
        after.server - used_before_.server, after.origin - used_before_.origin,
        after.load - used_before_.load, after.idle - used_before_.idle};
    return results_;
}

void Generator::begin_measuring(bool whole) {
    measuring_ = true;
    used_before_ = used();
    measured_from_ = now_ns();
    if (!whole)
        measured_to_ = measured_from_ + nanoseconds(options_.seconds);
}

bool Generator::over() const {
    if (options_.hold)
        return settled_ == connections_.size();
    if (options_.count > 0)
        return settled_ >= options_.count;
    return now_ns() >= measured_to_;
}

Generator::Nanoseconds Generator::due(std::uint64_t request) const {
    return begun_ + nanoseconds(static_cast<double>(request) / options_.rate);
}

bool Generator::may_issue(Nanoseconds now) const {
    if (free_.empty() || (options_.count > 0 && issued_ == options_.count))
        return false;
    if (options_.hold)
        return issued_ - settled_ < most_opening;
    return options_.rate <= 0 || due(issued_) <= now;
}

void Generator::issue() {
    for (auto now = now_ns(); may_issue(now); now = now_ns()) {
        const auto connection = free_.front();
        free_.pop_front();
        start(connection, options_.rate > 0 ? due(issued_) : now);
    }
}

void Generator::start(std::uint32_t number, Nanoseconds due) {
    auto& connection = connections_[number];
    std::optional<sockaddr_in> from;
    if (options_.sources > 0)
        from = loopback(0, 2 + static_cast<in_addr_t>(issued_ % options_.sources));
    connection.due = due;
    const auto request = issued_++;
    results_.connects += !connection.is_open();
    if (!connection.open(loopback(options_.port), from))
        return finished(number, Connection::Step::failed);
    finished(number, connection.send(request_.text(request, connection.own)));
}

void Generator::finished(std::uint32_t number, Connection::Step step) {
    auto& connection = connections_[number];
    if (step == Connection::Step::waiting)
        return;
    ++settled_;
    if (step == Connection::Step::failed) {
        ++results_.failed;
        connection.close();
        failed_.push_back(number);
        return;
    }
    if (measuring_)
        count(connection);
    if (options_.close || connection.answer().closes())
        connection.close();
    if (!options_.hold)
        free_.push_back(number);
}

void Generator::count(const Connection& connection) {
    const auto& answer = connection.answer();
    ++results_.done;
    ++results_.statuses[answer.status()];
    results_.bytes += answer.body();
    results_.damaged += !answer.intact();
    // Also of what was due before measuring began: a server that is behind has held it up.
    results_.latency.add(now_ns() - connection.due);
}

void Generator::wait() {
    const auto now = now_ns();
    auto until = std::min(measured_to_, now + second / 10);
    if (!measuring_)
        until = std::min(until, measured_from_);
    if (options_.rate > 0 && !free_.empty())
        until = std::min(until, due(issued_));
    if (!failed_.empty() || may_issue(now))
        until = now;
    const auto rest = std::max<Nanoseconds>(until - now, 0);
    const timespec timeout{.tv_sec = rest / second, .tv_nsec = rest % second};
    std::array<epoll_event, 256> events;
    const int ready =
        ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
    free_.insert(free_.end(), failed_.begin(), failed_.end());
    failed_.clear();
    for (int i = 0; i < ready; ++i) {
        const auto number = events[static_cast<std::size_t>(i)].data.u32;
        if (connections_[number].is_open())
            finished(number, connections_[number].drive());
    }
}

CpuUse Generator::used() const {
    return {
        cpu_seconds(options_.server), cpu_seconds(options_.origin), cpu_seconds({::getpid()}),
        idle_seconds(options_.cores)};
}

} // namespace stint::bench
