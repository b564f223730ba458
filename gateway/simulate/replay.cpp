#include "simulate/replay.hpp"

#include "config/schema/key_sources.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace stint::simulate {
namespace {

// Returns both clocks for a time of the replay. The log has only wall times, so both clocks show
// the same.
Now now_of(SteadyTime time) {
    return {time, WallTime{time.time_since_epoch()}};
}

// Returns the names of the request header fields that a limit reads.
FieldNames fields_of(const config::Limit& limit) {
    FieldNames names;
    for (const config::KeySource& source : config::key_sources(limit))
        if (source.kind == config::KeySource::Kind::header)
            names.insert(source.name);
        else if (source.kind == config::KeySource::Kind::cookie)
            names.insert("cookie");
        else if (source.kind == config::KeySource::Kind::jwt)
            names.insert("authorization");
        else if (source.kind == config::KeySource::Kind::host)
            names.insert("host");
        else if (source.kind == config::KeySource::Kind::tls_subject)
            names.insert("tls:subject"); // never recorded in a log
    if (!limit.cost_request_field.empty())
        names.insert(limit.cost_request_field);
    return names;
}

SteadyTime end_of(const std::unique_ptr<SimulatedRequest>& request) noexcept {
    return request->until();
}

} // namespace

Verdict verdict_of_log(const LoggedRequest& request) {
    if (request.was_refused())
        return {
            .kind = Verdict::Kind::refused,
            .route = request.route,
            .limit = request.limit,
            .tells_route = request.tells_decision()};
    if (!request.tells_decision())
        return {.kind = Verdict::Kind::admitted, .tells_route = false};
    if (request.route.empty())
        return {};
    return {.kind = Verdict::Kind::admitted, .route = request.route};
}

Replay::Replay(const config::Config& config, const FieldNames& logged)
    : compiled_{runtime::compile(config, registry_, slots_, 1)} {
    for (const config::Limit& limit : config.limits) {
        doubtful_.push_back(fields_of(limit));
        std::erase_if(
            doubtful_.back(), [&](const std::string& name) { return logged.contains(name); });
    }
}

void Replay::judge(const LoggedRequest& logged, SimulatedRequest::Decided decided) {
    const SteadyTime now{logged.time.time_since_epoch()};
    advance_to(now);
    auto seen = reader_.read(logged.request, *compiled_.snapshot, registry_.hasher());
    if (!seen)
        return decided({});
    auto request = std::make_unique<SimulatedRequest>(
        logged,
        Surroundings{*compiled_.snapshot, scratch_, ticket_hasher_, queue_, *this, doubtful_},
        std::move(decided));
    switch (request->begin(logged, seen->head, seen->facts, now_of(now))) {
    case SimulatedRequest::Step::over:
        break;
    case SimulatedRequest::Step::waits:
        waiting_.emplace(request.get(), std::move(request));
        break;
    case SimulatedRequest::Step::runs:
        run(std::move(request));
    }
    open_queue(now); // a new request may have displaced queued requests, which are collected here
}

void Replay::finish() {
    while (!waiting_.empty())
        advance_to(std::max(clock_, std::min(opens_at_, next_end())));
}

// Advances the clock to `now`. On the way ends requests and opens the queue, in the order of time.
void Replay::advance_to(SteadyTime now) {
    for (;;) {
        const SteadyTime end = next_end();
        const SteadyTime next = std::min(end, std::max(opens_at_, clock_));
        if (next > now)
            break;
        clock_ = std::max(clock_, next);
        if (end <= clock_)
            end_first();
        else
            open_queue(clock_);
    }
    clock_ = std::max(clock_, now);
}

SteadyTime Replay::next_end() const noexcept {
    return running_.empty() ? SteadyTime::max() : running_.front()->until();
}

void Replay::end_first() {
    std::ranges::pop_heap(running_, std::ranges::greater{}, end_of);
    const auto ended = std::move(running_.back());
    running_.pop_back();
    ended->end(now_of(ended->until()));
}

void Replay::open_queue(SteadyTime now) {
    opens_at_ = queue_.open(now_of(now));
    limits::Waiters decided;
    queue_.collect(*this, decided);
    while (!decided.empty()) {
        const SimulatedRequest& request = SimulatedRequest::of(decided.front());
        decided.pop_front();
        Request owned = std::move(waiting_.extract(&request).mapped());
        if (owned->finish_wait(now_of(now)) == SimulatedRequest::Step::runs)
            run(std::move(owned));
    }
}

void Replay::run(Request request) {
    running_.push_back(std::move(request));
    std::ranges::push_heap(running_, std::ranges::greater{}, end_of);
}

} // namespace stint::simulate
