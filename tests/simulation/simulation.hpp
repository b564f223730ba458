// Gateways, a network and a store with faults, in virtual time. The gateways run the production
// ShareClient and Limit, the store the very text of the script.
#pragma once

#include "limits/limit.hpp"
#include "lua_store.hpp"
#include "shared/share_client.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace stint::shared {

using Instant = std::int64_t; // true time, ns

// What a schedule is made of.
struct ScheduleTerms {
    limits::Algorithm algorithm = limits::Algorithm::sliding_window;
    limits::Anchor anchor = limits::Anchor::first_request;
    bool lock = false;               // the slots of the cap are leased, for `per` at most
    std::uint64_t number = 10;       // N
    std::uint64_t other_number = 10; // that gateways reload with, by and by
    std::uint64_t burst = 0;
    std::uint64_t other_burst = 0; // that comes with `other_number`; 0: none does
    Duration per = std::chrono::milliseconds{400};
    Duration time_to_live = std::chrono::seconds{1};
    Duration length = std::chrono::seconds{6};
    std::uint64_t cost = 1;                // of a request
    std::vector<std::uint64_t> costs = {}; // of a request at each gateway; empty: `cost`
    [[nodiscard]] std::uint64_t cost_at(int gateway) const {
        return costs.empty() ? cost : costs.at(static_cast<std::size_t>(gateway));
    }
    int gateways = 3;
    int keys = 1;
    Duration begin{};  // from when on Outcome counts what was asked
    double demand = 2; // of all gateways, in N for each `per`
    Duration phase =
        std::chrono::milliseconds{900}; // how long a gateway is busy or idle; 0: always busy
    Duration apart = std::chrono::milliseconds{40};      // of wall clocks from true time, at most
    Duration most_lost = std::chrono::milliseconds{300}; // of the store's latest writes
    bool starts = true;                                  // the gateways start by themselves
    bool faults = true; // of the network, the clocks, the store, and the gateways
    // When an operator says that no gateway holds what the store does not know of; 0: nobody does.
    // Faults come later.
    Duration trusted_at{};
    // After so long there are no faults any more, and some seconds later one gateway has all the
    // clients (Outcome::remaining). 0: faults go on.
    Duration faults_for{};
    // If any, they tell the gateways of another primary, each sooner or later; the former one
    // goes on serving those who have not been told.
    std::size_t sentinels = 0;
    bool majority = true;  // else a gateway believes the Sentinel that it reaches
    bool migrates = false; // the store's hash slot moves between nodes of a Cluster
    std::uint64_t seed = 1;
};

struct Admission {
    Instant at = 0;
    int gateway = 0;
    int key = 0;
    std::int64_t window = 0; // by the gateway's wall clock
    std::uint64_t cost = 1;
    Instant end = 0; // of a lease: from when on its holder is sure not to work any more
    std::uint64_t fence = 0;
};

struct SimulatedLease {
    limits::LimitPtr limit; // outlives the permit
    limits::Permit permit;
    int key = 0;
    std::uint64_t life = 0; // of the gateway
    SteadyTime expires{};
    std::size_t entry = 0; // in Outcome::admitted
};

struct Outcome {
    std::vector<Admission> admitted;
    std::uint64_t asked = 0;
    std::uint64_t one_gateway =
        0; // units admitted, had one gateway got all requests: without faults
    std::uint64_t store_calls = 0;
    std::uint64_t share_calls = 0; // all but beats
    // When nothing was left that knew the highest fencing number: neither a gateway nor the store.
    std::vector<Instant> fences_forgotten;
    int remaining = -1;  // the gateway that has all the clients after the faults; -1: none
    std::string history; // if kept: what happened, for people
};

// A property of an outcome that does not hold: what, when; empty: all hold.
[[nodiscard]] std::string broken_promise(const ScheduleTerms& terms, const Outcome& outcome);

// One schedule. Throws what the script throws.
class Simulation {
  public:
    Simulation(const ScheduleTerms& terms, LuaStore& store, bool keep_history = false);
    ~Simulation();

    [[nodiscard]] Outcome run();

    // For schedules that are written down: what happens when. Call before run(); with no faults of
    // its own the schedule has no more than these.
    void at(Instant when, std::function<void()> happen);
    void start(int index) { start(index, terms_.time_to_live); }
    void start(int index, Duration time_to_live);
    void kill(int index);
    void leave(int index); // gives up its shares, ends its session, and then stops
    void cut_off(int index, Instant until);
    // The gateway's calls about counters do not reach the store.
    void lose_syncs(int index, Instant until);
    // Its other calls do not: beats.
    void lose_beats(int index, Instant until);
    // The gateway's file has another number from now on. burst: of a token bucket, or 0.
    void reload(int index, std::uint64_t number, std::uint64_t burst = 0);
    // The gateway starts with the name of another one: a copied state file.
    void start_as(int index, int other);
    // Take out safeguards of the gateways: their shares end with their session; the numbers of
    // their calls rise over all calls of a session.
    void let_shares_outlive_sessions() { shares_outlive_sessions_ = true; }
    void number_calls_by_counter() { calls_by_counter_ = true; }
    // Take out a safeguard of locks: leases are renewed also if the store does not count them.
    void renew_uncovered_leases() { uncovered_leases_ = true; }
    // The gateway's wall clock is so far ahead of true time from now on.
    void set_wall_clock(int index, Duration ahead);
    // An operator says that no gateway holds what the store does not know of.
    void trust(int index);
    // The gateway has clients from here to there.
    void busy(int index, Instant from, Instant until);
    // The next call of the gateway about a counter, or the next by which it gives all up, reaches
    // the store a second time, so much later.
    void repeat_next_call(int index, Duration later);
    void repeat_next_return(int index, Duration later);
    void repeat_next_beat(int index, Duration later);
    // What the store has now is what fail_over() brings back.
    void remember() {
        replica_ = store_.data;
        replica_at_ = now_;
    }
    void fail_over();
    void flush();
    void step_store_clock(Duration by) { store_offset_ += by.count(); }
    // All clocks go on by so much, while nothing happens.
    void pass_time(Duration time) {
        store_offset_ += time.count();
        passed_ += time.count();
    }

  private:
    struct Gateway;
    struct Event {
        Instant at;
        std::uint64_t order;
        std::function<void()> happen;
        bool operator<(const Event& other) const noexcept {
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    [[nodiscard]] std::uint64_t below(std::uint64_t end) { return random_() % end; }
    [[nodiscard]] bool chance(double of) {
        return static_cast<double>(random_() >> 11) * 0x1p-53 < of;
    }
    [[nodiscard]] Instant between(Duration least, Duration most);

    [[nodiscard]] std::vector<limits::LimitPtr> make_limits() const;
    void stop(Gateway& gateway);
    void tick(Gateway& gateway);
    void demand(int index);
    void ask(Gateway& gateway);
    [[nodiscard]] limits::Decision admit(Gateway& gateway, int key);
    void retry(Gateway& gateway, const std::string& counter);
    [[nodiscard]] Duration longest_lease(const Gateway& gateway, int key) const;
    [[nodiscard]] Instant told_end(Duration lasts) const;
    void grant_lease(Gateway& gateway, int key, limits::Permit permit);
    void watch_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease);
    void renew_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease);
    void release_lease(Gateway& gateway, const std::shared_ptr<SimulatedLease>& lease);
    void want_fences(Gateway& gateway, int key);
    void note_forgotten_fences();
    void deliver(int index, std::uint64_t life, std::size_t primary, Call call);
    void
    reply(int index, std::uint64_t life, std::size_t primary, std::uint64_t number, Reply reply);
    [[nodiscard]] Reply run_at(std::size_t primary, const Call& call);
    void leave_former_primary();
    void ask_sentinels(Gateway& gateway);
    void move_slot();
    void move_key(const std::string& key);
    void end_migration(); // the source has failed over
    void break_off();
    void set_moving(bool moving);
    [[nodiscard]] bool serves(const Call& call) const;
    void spread(const std::string& counter);
    [[nodiscard]] Instant delay(const Gateway& gateway);
    [[nodiscard]] std::int64_t store_clock() const;
    void faults();
    void fault();
    void end_faults();
    void promote(bool other_clock);
    void clone_and_reload();
    void note(const std::string& what);

    ScheduleTerms terms_;
    LuaStore& store_;
    std::mt19937_64 random_;
    std::priority_queue<Event> events_;
    std::uint64_t order_ = 0;
    Instant now_ = 0;
    std::vector<std::unique_ptr<Gateway>> gateways_;
    std::uint64_t lives_ = 0;
    std::int64_t store_offset_ = 0; // ns
    std::int64_t passed_ = 0;       // ns, by pass_time()
    double store_rate_ = 1;
    Instant store_down_until_ = 0;
    StoreData replica_;
    Instant replica_at_ = 0;
    bool moving_ = false; // the slot is on its way
    std::string source_;
    std::string target_;                   // the replication id of the node that it moves to
    std::map<std::string, Instant> moved_; // keys that are there
    struct Former {
        StoreData data;
        std::string replication_id;
    };
    std::vector<Former> formers_;             // primaries in their order, without the latest
    std::vector<std::size_t> sentinel_names_; // the primary that each Sentinel names
    std::vector<limits::LimitPtr> one_gateway_;
    std::uint64_t replication_ids_ = 0;
    bool shares_outlive_sessions_ = false;
    bool calls_by_counter_ = false;
    bool uncovered_leases_ = false;
    Outcome outcome_;
    bool keep_history_;
};

} // namespace stint::shared
