// A configuration's routes and limits under a clock that the log sets.
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

// What became, or would become, of a request.
struct Verdict {
    enum class Kind : std::uint8_t { admitted, refused, unrouted };
    Kind kind = Kind::unrouted;
    std::string route{}; // empty: none takes it
    std::string limit{}; // that refuses
    std::string key{};   // of it, as text; empty without one
    // Of an admitted one: its end matters too, as it holds slots of caps or may be given back.
    bool end_matters = false;
    // Limits that were left out: they look at a field that is not in the log.
    std::vector<std::string> undecided{};
};

// What really happened, by the log.
[[nodiscard]] Verdict verdict_of_log(const LoggedRequest& request);

// The code that decides over live requests, with `now` from the log: wall and monotonic clock go
// the same way.
class Replay {
  public:
    using Names = std::set<std::string, std::less<>>;

    // logged: fields, in lower case, that the log carries wherever the request had them. A request
    // without any other field may have had it: nothing is said of a limit that looks at it.
    Replay(const config::Config& config, const Names& logged);

    // Requests come in the order of their time.
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
    std::vector<Names> doubtful_; // by limit: fields that it looks at and the log may lack
    std::vector<Held> held_;      // a heap, the first to end first
};

} // namespace stint::simulate
