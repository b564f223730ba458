#include "upstream/health_check.hpp"

#include "http/head_parser.hpp"
#include "net/clock.hpp"
#include "net/stream.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

namespace stint::upstream {
namespace {

constexpr std::size_t most_head = 16 * 1024;

std::string request_of(const HealthSpec& spec) {
    std::string text{"GET "};
    text.append(spec.path).append(" HTTP/1.1\r\nHost: ").append(spec.host);
    text.append("\r\nUser-Agent: stint-health-check\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    return text;
}

} // namespace

bool HealthSpec::expects(int status) const noexcept {
    return std::ranges::any_of(expect, [status](const Statuses& each) {
        return status >= each.first && status <= each.last;
    });
}

HealthCheck::HealthCheck(
    const net::Executor& executor,
    std::string owner,
    HealthSpec spec,
    EndpointStatePtr endpoint,
    std::vector<net::Endpoint> addresses)
    : executor_{executor}, owner_{std::move(owner)}, spec_{std::move(spec)}, request_{request_of(
                                                                                 spec_)},
      endpoint_{std::move(endpoint)}, pool_{endpoint_->text(), std::move(addresses)},
      record_{endpoint_->healthy()}, timeout_{executor}, alarm_{std::make_shared<net::Alarm>(
                                                             executor)} {}

void HealthCheck::start(Duration delay) {
    const SteadyTime first = net::read_steady_clock() + delay;
    endpoint_->set_next_check(first);
    net::spawn(executor_, run(shared_from_this(), first));
}

void HealthCheck::stop() noexcept {
    stopped_ = true;
    endpoint_->set_next_check({});
    alarm_->ring();
    if (asking_ != nullptr)
        asking_->abort();
}

net::Task<> HealthCheck::run(std::shared_ptr<HealthCheck> self, SteadyTime first) {
    for (SteadyTime next = first; !self->stopped_;) {
        co_await self->alarm_->sleep_until(next);
        if (self->stopped_)
            break;
        const SteadyTime began = net::read_steady_clock();
        if (began < next)
            continue;
        Result result;
        try {
            result = co_await self->ask();
        } catch (const std::exception& failure) {
            result.found = failure.what(); // for example no memory; the next check tries again
        }
        if (self->stopped_)
            break;
        next = next_check_at(began, net::read_steady_clock(), self->spec_.interval);
        self->endpoint_->set_next_check(next);
        self->take(std::move(result), began);
    }
}

net::Task<HealthCheck::Result> HealthCheck::ask() {
    Lease lease = pool_.make_new(executor_);
    asking_ = &lease;
    Result result;
    try {
        arm_timeout();
        result = co_await talk(lease);
    } catch (const std::exception& failure) {
        result.found = failure.what();
    }
    asking_ = nullptr;
    timeout_.cancel();
    if (timed_out_)
        result = {false, "took too long"};
    co_return result;
}

net::Task<HealthCheck::Result> HealthCheck::talk(Lease& lease) {
    const Lease::Connected connected = co_await lease.connect(spec_.proxy_protocol_header);
    if (connected.error)
        co_return Result{
            false, std::string{"could not connect: "}.append(
                       connected.reason.empty() ? connected.error.message() : connected.reason)};
    net::Gather gather;
    gather.add(request_);
    const ErrorCode not_sent = co_await net::send_all(lease.stream(), gather);
    if (not_sent)
        co_return Result{false, "broke off: " + not_sent.message()};
    Result result = co_await read_status(lease);
    co_return result;
}

// Reads the response's heads up to the final one, and checks its status. Does not read the body.
net::Task<HealthCheck::Result> HealthCheck::read_status(Lease& lease) {
    http::HeadParser parser{most_head};
    std::string received(most_head, '\0');
    std::size_t filled = 0;
    std::size_t scanned = 0;
    for (;;) {
        const std::string_view data{received.data(), filled};
        if (const std::size_t size = http::find_head_end(data, scanned); size > 0) {
            const auto head = parser.parse_response(data.substr(0, size), "GET");
            if (!head)
                co_return Result{false, "a bad response: " + std::string{head.error().detail}};
            if (head->status >= 200)
                co_return Result{spec_.expects(head->status), std::to_string(head->status)};
            received.erase(0, size).resize(most_head);
            filled -= size;
            scanned = 0;
            continue;
        }
        if (filled == received.size())
            co_return Result{false, "a response head that is too large"};
        const std::span<char> room{received.data() + filled, received.size() - filled};
        auto [error, size] = co_await net::read_some(lease.stream(), room, read_memory_);
        if (error)
            co_return Result{false, "closed before it answered: " + error.message()};
        filled += size;
    }
}

void HealthCheck::arm_timeout() {
    timed_out_ = false;
    timeout_.expires_after(spec_.timeout);
    timeout_.async_wait([self = shared_from_this(), round = ++round_](const ErrorCode& error) {
        if (error || self->asking_ == nullptr || self->round_ != round)
            return;
        self->timed_out_ = true;
        self->asking_->abort();
    });
}

void HealthCheck::take(Result result, SteadyTime began) {
    const bool changed = record_.note(result.passed, spec_.rules);
    if (changed && record_.healthy()) {
        endpoint_->set_healthy(net::read_steady_clock());
        spdlog::info("upstream {}: {} is healthy again", owner_, endpoint_->text());
    } else if (changed) {
        endpoint_->set_unhealthy();
        spdlog::warn(
            "upstream {}: {} is unhealthy, the last check: {}", owner_, endpoint_->text(),
            result.found);
    }
    endpoint_->note_check({began, result.passed, std::move(result.found)});
}

} // namespace stint::upstream
