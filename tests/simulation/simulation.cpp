#include "simulated_gateway.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace stint::shared {
namespace {

using namespace std::chrono_literals;

constexpr Instant longest_wait = 20'000'000; // of a request for the store

} // namespace

Simulation::Simulation(const ScheduleTerms& terms, LuaStore& store, bool keep_history)
    : terms_{terms}, store_{store}, random_{terms.seed}, keep_history_{keep_history} {
    store_.data = {};
    one_gateway_ = make_limits();
    store_.replication_id = "aa0";
    sentinel_names_.resize(terms_.sentinels);
    store_.published = [this](const std::string& counter) { spread(counter); };
    for (int i = 0; i < terms_.gateways; ++i) {
        gateways_.push_back(std::make_unique<Gateway>(*this, i));
        Gateway& gateway = *gateways_.back();
        if (terms_.faults) {
            gateway.rate = 1 + (static_cast<double>(below(21)) - 10) / 1000;
            gateway.wall_offset = between(-terms_.apart, terms_.apart);
            gateway.lossy = chance(0.1);
        }
    }
    if (terms_.faults) {
        store_rate_ = 1 + (static_cast<double>(below(17)) - 8) / 100;
        store_offset_ = between(-3s, 3s);
    }
}

Simulation::~Simulation() {
    store_.published = nullptr;
}

void Simulation::at(Instant when, std::function<void()> happen) {
    events_.push({when, ++order_, std::move(happen)});
}

Instant Simulation::between(Duration least, Duration most) {
    const auto width = static_cast<std::uint64_t>((most - least).count());
    return least.count() + static_cast<Instant>(width > 0 ? below(width) : 0);
}

void Simulation::note(const std::string& what) {
    if (!keep_history_)
        return;
    std::ostringstream line;
    line << now_ / 1000 << " us: " << what << "\n";
    outcome_.history += line.str();
}

std::int64_t Simulation::store_clock() const {
    const auto passed = static_cast<std::int64_t>(static_cast<double>(now_) * store_rate_);
    return (wall_base + passed + store_offset_) / 1000;
}

Instant Simulation::delay(const Gateway& gateway) {
    if (!terms_.faults)
        return between(100us, 300us);
    if (now_ < gateway.slow_until)
        return between(1ms, 400ms);
    return chance(0.02) ? between(1ms, 300ms) : between(100us, 2ms);
}

std::vector<limits::LimitPtr> Simulation::make_limits() const {
    const bool cap = terms_.algorithm == limits::Algorithm::concurrency;
    std::vector<limits::LimitPtr> made;
    for (int i = 0; i < terms_.keys; ++i) {
        limits::LimitSpec spec;
        spec.identity = {
            .name = "shared",
            .key = "",
            .algorithm = terms_.algorithm,
            .anchor = terms_.anchor,
            .per = cap ? Duration{} : terms_.per};
        spec.quota = terms_.number;
        made.push_back(std::make_shared<limits::Limit>(spec));
    }
    return made;
}

void Simulation::start(int index, Duration time_to_live) {
    Gateway& gateway = *gateways_[static_cast<std::size_t>(index)];
    gateway.time_to_live = time_to_live;
    gateway.life = ++lives_;
    gateway.leaving = false;
    gateway.limits = make_limits();
    for (const limits::LimitPtr& limit : gateway.limits) {
        limit->share_policy().reserve_without_share({});
        if (!terms_.lock)
            continue;
        // Not all gateways have the same longest lease. A book of locks begins its fencing numbers
        // with its wall clock.
        limit->share_policy().leases().begin(terms_.number, terms_.per / (1 + index % 2));
        const auto wall = gateway.now().wall.time_since_epoch() / 1ms;
        limit->raise_fence(static_cast<std::uint64_t>(wall) * 2048);
    }
    gateway.client = std::make_unique<ShareClient>(
        SessionTerms{
            .gateway = "gw" + std::to_string(gateway.name),
            .session = "g" + std::to_string(index) + "." + std::to_string(gateway.life),
            .time_to_live = gateway.time_to_live,
            .timeout = 300ms},
        gateway, gateway);
    note("g" + std::to_string(index) + " starts");
    tick(gateway);
}

void Simulation::stop(Gateway& gateway) {
    gateway.life = 0;
    gateway.waiting.clear();
    gateway.client.reset();
    note("g" + std::to_string(gateway.index) + " stops");
    note_forgotten_fences();
}

void Simulation::kill(int index) {
    stop(*gateways_[static_cast<std::size_t>(index)]);
}

void Simulation::reload(int index, std::uint64_t number, std::uint64_t burst) {
    gateways_[static_cast<std::size_t>(index)]->number = number;
    gateways_[static_cast<std::size_t>(index)]->burst = burst;
    note("g" + std::to_string(index) + " reloads with " + std::to_string(number));
}

void Simulation::start_as(int index, int other) {
    gateways_[static_cast<std::size_t>(index)]->name = other;
    start(index);
}

void Simulation::lose_syncs(int index, Instant until) {
    gateways_[static_cast<std::size_t>(index)]->lose_syncs_until = until;
}

void Simulation::lose_beats(int index, Instant until) {
    gateways_[static_cast<std::size_t>(index)]->lose_beats_until = until;
}

void Simulation::leave(int index) {
    gateways_[static_cast<std::size_t>(index)]->leaving = true;
}

void Simulation::cut_off(int index, Instant until) {
    gateways_[static_cast<std::size_t>(index)]->cut_until = until;
    note("g" + std::to_string(index) + " is cut off");
}

void Simulation::set_wall_clock(int index, Duration ahead) {
    gateways_[static_cast<std::size_t>(index)]->wall_offset = ahead.count();
}

void Simulation::trust(int index) {
    Gateway& gateway = *gateways_[static_cast<std::size_t>(index)];
    (void)gateway.client->trust(gateway.now());
    tick(gateway);
}

void Simulation::busy(int index, Instant from, Instant until) {
    gateways_[static_cast<std::size_t>(index)]->busy_times.emplace_back(from, until);
}

void Simulation::repeat_next_call(int index, Duration later) {
    gateways_[static_cast<std::size_t>(index)]->repeat_after = later.count();
}

void Simulation::repeat_next_return(int index, Duration later) {
    gateways_[static_cast<std::size_t>(index)]->repeat_return_after = later.count();
}

void Simulation::repeat_next_beat(int index, Duration later) {
    gateways_[static_cast<std::size_t>(index)]->repeat_beat_after = later.count();
}

void Simulation::fail_over() {
    if (terms_.sentinels > 0)
        leave_former_primary();
    store_.data = replica_;
    store_.replication_id = "bb" + std::to_string(++replication_ids_);
    end_migration();
    note("the store fails over");
    note_forgotten_fences();
}

void Simulation::flush() {
    store_.data = {};
    note("the store is flushed");
    note_forgotten_fences();
}

void Simulation::tick(Gateway& gateway) {
    if (gateway.client == nullptr)
        return;
    if (gateway.leaving && gateway.client->leave(gateway.now()))
        return stop(gateway);
    const SteadyTime next = gateway.client->tick(gateway.now());
    if (gateway.client->session().state() == SessionState::dead) {
        note("g" + std::to_string(gateway.index) + " begins a new session");
        gateway.client->begin(
            SessionTerms{
                .gateway = "gw" + std::to_string(gateway.name),
                .session = "g" + std::to_string(gateway.index) + "." + std::to_string(++lives_),
                .time_to_live = gateway.time_to_live,
                .timeout = 300ms},
            gateway.now());
        return tick(gateway);
    }
    const double wait = static_cast<double>((next - gateway.now().steady).count()) / gateway.rate;
    const Instant when =
        now_ + std::max<Instant>(static_cast<Instant>(std::min(wait, 1e10)), 50'000);
    if (gateway.ticks_at > now_ && gateway.ticks_at <= when)
        return;
    gateway.ticks_at = when;
    const std::uint64_t life = gateway.life;
    at(when, [this, &gateway, life, when] {
        if (gateway.life != life || gateway.ticks_at != when)
            return;
        if (now_ < gateway.paused_until) {
            gateway.ticks_at = gateway.paused_until;
            const Instant later = gateway.paused_until;
            at(later, [this, &gateway, life, later] {
                if (gateway.life == life && gateway.ticks_at == later)
                    tick(gateway);
            });
            return;
        }
        tick(gateway);
    });
}

limits::Decision Simulation::admit(Gateway& gateway, int key) {
    const limits::LimitPtr& limit = gateway.limits[static_cast<std::size_t>(key)];
    const limits::Charge charge{
        .limit = limit.get(),
        .quota = gateway.number,
        .burst = gateway.burst,
        .cost = terms_.cost_at(gateway.index)};
    const Now now = gateway.now();
    limits::Decision decision = limits::admit({&charge, 1}, now);
    if (decision.allowed() && terms_.lock) {
        grant_lease(gateway, key, std::move(decision.permit));
    } else if (decision.allowed()) {
        const std::int64_t window = window_of({.limit = limit}, now);
        outcome_.admitted.push_back({now_, gateway.index, key, window, charge.cost});
        note("g" + std::to_string(gateway.index) + " admits in " + std::to_string(window));
    }
    return decision;
}

// A request of one of the gateway's clients.
void Simulation::ask(Gateway& gateway) {
    const int key = static_cast<int>(below(static_cast<std::uint64_t>(terms_.keys)));
    const Now now = gateway.now();
    const limits::Charge alone{
        .limit = one_gateway_[static_cast<std::size_t>(key)].get(),
        .quota = terms_.number,
        .burst = terms_.burst,
        .cost = terms_.cost_at(gateway.index)};
    if (now_ >= terms_.begin.count())
        outcome_.asked += 1;
    if (!terms_.faults && limits::admit({&alone, 1}, now).allowed() && now_ >= terms_.begin.count())
        outcome_.one_gateway += alone.cost;
    // Without ask_store the store has said that there is no more for now, or cannot be asked.
    if (const auto decision = admit(gateway, key); decision.allowed() || decision.ask_store == 0)
        return;
    const SharedCounter counter{
        .limit = gateway.limits[static_cast<std::size_t>(key)],
        .key = {},
        .numbers = {gateway.number, gateway.burst}};
    const std::string name = "c" + std::to_string(key);
    if (gateway.client->want(name, counter, alone.cost, now) != Wanted::asked)
        return;
    gateway.waiting[name].emplace_back(key, now_);
    tick(gateway);
}

// The requests that wait for the store's answer are decided anew, if it has come in time.
void Simulation::retry(Gateway& gateway, const std::string& counter) {
    const auto node = gateway.waiting.extract(counter);
    if (node.empty())
        return;
    for (const auto& [key, since] : node.mapped())
        if (now_ < since + longest_wait)
            (void)admit(gateway, key);
}

// Busy and idle by turns.
void Simulation::demand(int index) {
    Gateway& gateway = *gateways_[static_cast<std::size_t>(index)];
    if (terms_.phase > 0ns && now_ >= gateway.idle_until) {
        gateway.busy_until = now_ + between(terms_.phase / 4, terms_.phase);
        gateway.idle_until = gateway.busy_until + between(0ns, terms_.phase);
    }
    const auto within = [this](const auto& time) {
        return time.first <= now_ && now_ < time.second;
    };
    const bool busy = !gateway.busy_times.empty() || !terms_.starts
                          ? std::ranges::any_of(gateway.busy_times, within)
                          : terms_.phase == 0ns || now_ < gateway.busy_until;
    if (busy && gateway.life != 0 && now_ >= gateway.paused_until)
        ask(gateway);
    const double rate = terms_.demand * static_cast<double>(terms_.number) /
                        static_cast<double>(terms_.gateways) /
                        static_cast<double>(terms_.per.count());
    const auto mean = static_cast<Instant>(1 / rate);
    const Instant next = busy || terms_.phase == 0ns
                             ? now_ + between(Duration{mean / 2}, Duration{mean * 3 / 2 + 1})
                             : gateway.idle_until;
    at(next, [this, index] { demand(index); });
}

void Simulation::deliver(int index, std::uint64_t life, std::size_t primary, Call call) {
    if (primary == formers_.size() && now_ < store_down_until_)
        return;
    Gateway& gateway = *gateways_[static_cast<std::size_t>(index)];
    const std::uint64_t number = call.number;
    if (!serves(call))
        return at(now_ + delay(gateway), [this, &gateway, life, number] {
            if (gateway.life != life || now_ < gateway.cut_until || now_ < gateway.paused_until)
                return;
            gateway.client->failed(number, gateway.now()); // TRYAGAIN
            tick(gateway);
        });
    Reply answer = run_at(primary, call);
    if (now_ >= terms_.begin.count()) {
        outcome_.store_calls += 1;
        outcome_.share_calls += call.counter.empty() ? 0 : 1;
    }
    if (gateway.lossy && chance(0.3))
        return;
    at(now_ + delay(gateway), [this, index, life, primary, number, answer] {
        reply(index, life, primary, number, answer);
    });
}

void Simulation::reply(
    int index, std::uint64_t life, std::size_t primary, std::uint64_t number, Reply answer) {
    Gateway& gateway = *gateways_[static_cast<std::size_t>(index)];
    if (gateway.life != life || now_ < gateway.cut_until || primary != gateway.followed)
        return;
    if (now_ < gateway.paused_until)
        return at(gateway.paused_until, [this, index, life, primary, number, answer] {
            reply(index, life, primary, number, answer);
        });
    if (keep_history_) {
        std::ostringstream text;
        text << "g" << index << " gets";
        for (const auto& each : answer)
            std::visit([&](const auto& value) { text << " " << value; }, each);
        note(text.str());
    }
    gateway.client->answered(number, answer, gateway.now());
    tick(gateway);
}

void Simulation::spread(const std::string& counter) {
    for (const auto& each : gateways_) {
        Gateway& gateway = *each;
        if (gateway.lossy && chance(0.3))
            continue;
        const std::uint64_t life = gateway.life;
        at(now_ + delay(gateway), [this, &gateway, life, counter] {
            if (life == 0 || gateway.life != life || now_ < gateway.cut_until ||
                now_ < gateway.paused_until)
                return;
            gateway.client->recall(counter, gateway.now());
            tick(gateway);
        });
    }
}

Outcome Simulation::run() {
    for (int i = 0; i < terms_.gateways; ++i) {
        const Instant begin = terms_.faults && chance(0.3) ? between(0ms, terms_.length / 2) : 0;
        if (terms_.starts)
            at(begin, [this, i] {
                if (gateways_[static_cast<std::size_t>(i)]->life == 0) // after faults it may run
                    start(i);
            });
        at(begin + 1, [this, i] { demand(i); });
    }
    if (terms_.sentinels > 0)
        for (const auto& gateway : gateways_)
            ask_sentinels(*gateway);
    if (terms_.faults) {
        clone_and_reload();
        at(between(1300ms, 3s), [this] { faults(); });
    }
    if (terms_.trusted_at > 0ns)
        at(terms_.trusted_at.count(), [this] {
            for (const auto& gateway : gateways_)
                if (gateway->life != 0 &&
                    gateway->client->session().state() == SessionState::active)
                    return trust(gateway->index);
        });
    if (terms_.faults_for > 0ns)
        at(terms_.faults_for.count(), [this] { end_faults(); });
    if (terms_.migrates)
        at(between(1s, 2s), [this] { move_slot(); });
    const Duration lag = terms_.faults ? Duration{between(1ms, terms_.most_lost)} : Duration{100ms};
    std::function<void()> replicate = [this, lag, &replicate] {
        remember();
        at(now_ + lag.count(), replicate);
    };
    if (terms_.faults)
        at(0, replicate);
    while (!events_.empty() && events_.top().at < terms_.length.count()) {
        Event event = std::move(const_cast<Event&>(events_.top()));
        events_.pop();
        now_ = event.at;
        event.happen();
    }
    return std::move(outcome_);
}

} // namespace stint::shared
