// A route with limits, and requests that ask for a decision through any door, on the test's own
// time.
#pragma once

#include "admission/request_admission.hpp"
#include "http/head_parser.hpp"
#include "limits/queue/admission_queue.hpp"

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::admission::test {

using namespace std::chrono_literals;

inline const KeyHasher hasher;
inline constexpr SteadyTime start{1'000'000s};
inline constexpr WallTime noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23} + 12h};

inline Now at(Duration since_start) {
    return {start + since_start, noon + since_start};
}

inline routing::LimitTerms
window(std::string name, std::uint64_t quota, Duration per = 1min, std::string key = {}) {
    limits::LimitSpec spec;
    spec.identity = {.name = std::move(name), .key = key, .per = per};
    spec.quota = quota;
    routing::LimitTerms limit;
    limit.limit = std::make_shared<limits::Limit>(spec);
    limit.quota = quota;
    if (!key.empty())
        limit.key = routing::KeyTemplate{{{routing::KeySource::Kind::header, key}}};
    return limit;
}

inline routing::LimitTerms cap(std::string name, std::uint64_t slots) {
    limits::LimitSpec spec;
    spec.identity.name = std::move(name);
    spec.identity.algorithm = limits::Algorithm::concurrency;
    spec.quota = slots;
    routing::LimitTerms limit;
    limit.limit = std::make_shared<limits::Limit>(spec);
    limit.quota = slots;
    return limit;
}

// The queue's scheduler and the mailbox of all requests here.
struct Waiting final : limits::WakeupScheduler, limits::Mailbox {
    void schedule(SteadyTime) noexcept override {}
    void run_now() noexcept override {}
    void notify() noexcept override {}
    limits::AdmissionQueue queue{*this};
};

// Notes what is called back, in few words.
class Called final : public Callbacks {
  public:
    class Queued final : public QueuedCharges {
      public:
        using QueuedCharges::QueuedCharges;
    };

    explicit Called(Waiting& waiting) : waiting_{waiting} {}
    Called(const Called&) = delete;
    Called& operator=(const Called&) = delete;
    ~Called() {
        if (queued)
            waiting_.queue.leave(*queued, at(0s));
    }

    void begin(const routing::Route&, const Now&) override { note("begin"); }
    void exempt(routing::AppliedLimit limit) noexcept override { note("exempt", limit); }
    void refused(routing::AppliedLimit limit, Hash128, Duration) noexcept override {
        note("refused", limit);
    }
    void denied(routing::AppliedLimit limit) noexcept override { note("denied", limit); }
    void fence_rejected(const routing::Route&) noexcept override { note("fence"); }
    void would_refuse(routing::AppliedLimit limit, Hash128) noexcept override {
        note("would refuse", limit);
    }
    void would_wait(routing::AppliedLimit limit) noexcept override {
        note("would wait for", limit);
    }
    void permit_used() noexcept override { note("permit used"); }
    void permit_unknown() noexcept override { note("permit unknown"); }
    void waited(routing::AppliedLimit limit, bool admitted, Duration) noexcept override {
        note(admitted ? "waited for" : "waited in vain for", limit);
    }
    void shares_asked(SteadyTime until) override { answer_by = until; }
    void shares_answered() noexcept override { ++answers; }
    limits::AdmissionQueue& queue() noexcept override { return waiting_.queue; }
    QueuedCharges& make_queued() override {
        queued = std::make_unique<Queued>(waiting_);
        return *queued;
    }
    void drop_queued() noexcept override { queued.reset(); }

    std::string log;
    int answers = 0; // of stores of shares
    SteadyTime answer_by{};
    std::unique_ptr<Queued> queued;

  private:
    void note(std::string_view what) { log.append(log.empty() ? "" : ", ").append(what); }
    void note(std::string_view what, routing::AppliedLimit limit) {
        note(what);
        log.append(" ").append(limit->limit->identity().name);
    }

    Waiting& waiting_;
};

// A route before it is compiled: with the terms of its limits.
struct LimitedRoute : routing::Route {
    std::vector<routing::LimitTerms> terms;
};

class Gateway {
  public:
    explicit Gateway(LimitedRoute route) {
        route.name = "all";
        for (routing::LimitTerms& each : route.terms) {
            route.may_wait = route.may_wait || each.wait.has_value();
            route.may_reserve = route.may_reserve || !each.reserve_for.empty();
            route.settles = route.settles || each.pricing.refundable();
            route.limits.push_back(
                {.index = static_cast<std::uint32_t>(snapshot.limits.size()),
                 .told_in_draft = each.shared.has_value()});
            snapshot.limits.push_back(std::make_shared<const routing::LimitTerms>(std::move(each)));
        }
        std::vector<routing::Route> routes;
        routes.push_back(std::move(route));
        snapshot.routes = routing::RouteTable{std::move(routes)};
        snapshot.upstreams = std::make_shared<const std::vector<routing::UpstreamSpec>>(
            1, routing::UpstreamSpec{.name = "up", .endpoints = {}, .host = {}});
    }

    [[nodiscard]] limits::Limit& limit(std::size_t i) const { return *snapshot.limits[i]->limit; }
    [[nodiscard]] std::uint64_t used(std::size_t i, Duration when = 0s) const {
        return limit(i).state_of({.quota = 1000}, at(when)).used;
    }

    routing::Snapshot snapshot;
    Scratch scratch;
    Waiting waiting;
    limits::PrepaidPermits prepaid;
    limits::ShareRequests* shares = nullptr;
    http::HeadParser parser{16 * 1024};
};

// One request, which asks when it is made.
class Asked {
  public:
    Asked(
        Gateway& gateway,
        Door door,
        const Now& now,
        std::string_view fields = "",
        std::string_view line = "GET /",
        std::string_view host = "a")
        : callbacks{gateway.waiting}, admission{
                                          door,
                                          {.snapshot = gateway.snapshot,
                                           .scratch = gateway.scratch,
                                           .callbacks = callbacks,
                                           .ticket_hasher = &hasher,
                                           .prepaid = &gateway.prepaid,
                                           .shares = gateway.shares,
                                           .preview = door == Door::explain ? &seen : nullptr}} {
        head_.append(line).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
        head_.append(fields).append("\r\n");
        const auto head = gateway.parser.parse_request(head_);
        routing::KeyFacts facts = facts_of(*head, client_, hasher);
        next = admission.decide(*head, facts, 0, now);
    }

    Called callbacks;
    Preview seen;
    RequestAdmission admission;
    Next next = Next::reply;

  private:
    routing::ClientAddress client_{IpAddress::parse("192.0.2.1").value(), hasher};
    std::string head_;
};

} // namespace stint::admission::test
