// A replay of the log through a configuration's routes and limits, with the log's clock.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/permit.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "routing/charges.hpp"
#include "runtime/compile.hpp"
#include "runtime/synthetic_request.hpp"
#include "simulate/logged_request.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stint::simulate {

// The actual or simulated outcome of a request.
struct Verdict {
    enum class Kind : std::uint8_t { admitted, refused, unrouted };
    Kind kind = Kind::unrouted;
    std::string route{}; // empty: no route matches
    std::string limit{}; // the limit that refuses
    std::string key{};   // the limit's, as text; empty without one
    // True if an admitted request's end matters too, as it holds slots of caps or may be refunded.
    bool end_matters = false;
    // Limits that were skipped: they read a field that is not in the log.
    std::vector<std::string> undecided{};
};

// Returns the actual outcome, by the log.
[[nodiscard]] Verdict verdict_of_log(const LoggedRequest& request);

// Runs the code that decides over live requests, with `now` from the log: wall and monotonic clock
// advance together.
class Replay {
  public:
    using Names = std::set<std::string, std::less<>>;

    // logged: fields, in lower case, that the log carries wherever the request had them. A request
    // without any other field may have had it: a limit that reads it is undecided.
    Replay(const config::Config& config, const Names& logged);

    // Decides about a request. Requests come ordered by time.
    [[nodiscard]] Verdict judge(const LoggedRequest& logged);

  private:
    struct Held {
        SteadyTime until;
        limits::Permit permit;
        int status = 0;
        std::vector<std::pair<std::size_t, const routing::RouteLimit*>> refunds; // by charge
    };

    void end_until(SteadyTime now) noexcept;
    void hold(const LoggedRequest& logged, limits::Permit permit, const routing::Charges& charges);
    class Keys;
    [[nodiscard]] Verdict
    admit(const LoggedRequest& logged, const routing::Route& route, const routing::KeyFacts& facts);

    limits::Registry registry_;
    observe::MetricSlots slots_;
    runtime::Compiled compiled_;
    runtime::RequestReader reader_;
    std::string key_scratch_;
    std::vector<Names> doubtful_; // by limit: fields that it reads and the log may lack
    std::vector<Held> held_;      // a heap, the first to end first
};

} // namespace stint::simulate
