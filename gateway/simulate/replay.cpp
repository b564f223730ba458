#include "simulate/replay.hpp"

#include "http/ascii.hpp"
#include "limits/limit.hpp"
#include "routing/charges.hpp"

#include <algorithm>
#include <utility>

namespace stint::simulate {
namespace {

// The log's times are of the wall clock alone.
Now now_of(WallTime time) {
    return {SteadyTime{time.time_since_epoch()}, time};
}

// The fields of a request that a limit looks at.
Replay::Names fields_of(const config::Limit& limit) {
    Replay::Names names;
    for (const config::KeySource& source : limit.key)
        if (source.kind == config::KeySource::Kind::header)
            names.insert(source.name);
        else if (source.kind == config::KeySource::Kind::cookie)
            names.insert("cookie");
        else if (source.kind == config::KeySource::Kind::jwt)
            names.insert("authorization");
        else if (source.kind == config::KeySource::Kind::tls_subject)
            names.insert("tls:subject"); // which no log carries
    if (!limit.cost_request_field.empty())
        names.insert(limit.cost_request_field);
    return names;
}

bool carries(const runtime::SyntheticRequest& request, std::string_view name) {
    return std::ranges::any_of(request.fields, [&](const auto& field) {
        return http::ascii::equals_folded(field.first, name);
    });
}

} // namespace

Verdict verdict_of_log(const LoggedRequest& request) {
    if (request.was_refused())
        return {.kind = Verdict::Kind::refused, .route = request.route, .limit = request.limit};
    if (request.route.empty())
        return {};
    return {.kind = Verdict::Kind::admitted, .route = request.route};
}

Replay::Replay(const config::Config& config, const Names& logged)
    : compiled_{runtime::compile(config, registry_, slots_, 1)} {
    for (const config::Limit& limit : config.limits) {
        doubtful_.push_back(fields_of(limit));
        std::erase_if(
            doubtful_.back(), [&](const std::string& name) { return logged.contains(name); });
    }
}

Verdict Replay::judge(const LoggedRequest& logged) {
    end_until(now_of(logged.time).steady);
    const auto seen = reader_.read(logged.request, *compiled_.snapshot, registry_.hasher());
    if (!seen || seen->match.route == nullptr)
        return {};
    return admit(logged, *seen->match.route, seen->facts);
}

void Replay::end_until(SteadyTime now) noexcept {
    while (!held_.empty() && held_.front().until <= now) {
        std::ranges::pop_heap(held_, std::ranges::greater{}, &Held::until);
        Held& ended = held_.back();
        const Now end{ended.until, WallTime{ended.until.time_since_epoch()}};
        for (const auto& [charge, limit] : ended.refunds) {
            const routing::Pricing& pricing = limit->pricing;
            const bool counts =
                pricing.count_when.empty() || routing::contains(pricing.count_when, ended.status);
            if (!counts || routing::contains(pricing.refund, ended.status))
                ended.permit.refund(charge, end);
        }
        ended.permit.release(end);
        held_.pop_back();
    }
}

// Holds the permit until the request's logged end. A request that the log's own limits refused had
// no end of its own: it counts in full, and for no time.
void Replay::hold(
    const LoggedRequest& logged, limits::Permit permit, const routing::Charges& charges) {
    Held held{now_of(logged.time).steady + logged.duration, std::move(permit), logged.status, {}};
    for (std::size_t i = 0; i < charges.charges.size() && !logged.was_refused(); ++i)
        if (charges.charges[i].refundable)
            held.refunds.emplace_back(i, charges.limits[i]);
    held_.push_back(std::move(held));
    std::ranges::push_heap(held_, std::ranges::greater{}, &Held::until);
}

// Leaves out the limits that the log does not say enough for, and keeps the keys of the others.
class Replay::Keys final : public routing::KeyObserver {
  public:
    Keys(const runtime::SyntheticRequest& request, const std::vector<Names>& doubtful)
        : request_{request}, doubtful_{doubtful} {}

    bool concerns(const routing::RouteLimit& limit, const routing::Key& key) noexcept override {
        const auto lacks = [&](const std::string& name) { return !carries(request_, name); };
        const bool looks = key.missing || !limit.pricing.request_field.empty();
        if (!looks || std::ranges::none_of(doubtful_[limit.index], lacks))
            return true;
        undecided.push_back(limit.limit->identity().name);
        return false;
    }
    void counts(const routing::RouteLimit& limit, const routing::Key& key) noexcept override {
        texts.emplace_back(&limit, key.text);
    }

    [[nodiscard]] std::string of(const routing::RouteLimit& limit) const {
        const auto found =
            std::ranges::find(texts, &limit, [](const auto& each) { return each.first; });
        return found == texts.end() ? std::string{} : found->second;
    }

    std::vector<std::string> undecided;
    std::vector<std::pair<const routing::RouteLimit*, std::string>> texts;

  private:
    const runtime::SyntheticRequest& request_;
    const std::vector<Names>& doubtful_;
};

Verdict Replay::admit(
    const LoggedRequest& logged, const routing::Route& route, const routing::KeyFacts& facts) {
    Keys keys{logged.request, doubtful_};
    const routing::Charges charges = routing::charges_of(route, facts, key_scratch_, &keys);
    const Now now = now_of(logged.time);
    limits::Decision decision;
    const routing::RouteLimit* refuser = charges.denied_by;
    if (refuser == nullptr) {
        decision = limits::admit(charges.view(), now);
        if (!decision.allowed())
            refuser = charges.limits[decision.refused_by];
    }
    Verdict verdict{.kind = Verdict::Kind::admitted, .route = route.name};
    verdict.undecided = std::move(keys.undecided);
    if (refuser != nullptr) {
        verdict.kind = Verdict::Kind::refused;
        verdict.limit = refuser->limit->identity().name;
        verdict.key = keys.of(*refuser);
        return verdict;
    }
    const auto returnable = [](const limits::Charge& charge) { return charge.refundable; };
    verdict.end_matters =
        decision.permit.holds_slots() || std::ranges::any_of(charges.view(), returnable);
    if (verdict.end_matters)
        hold(logged, std::move(decision.permit), charges);
    return verdict;
}

} // namespace stint::simulate
