// A configuration's routes and limits under a clock that the log sets.
#pragma once

#include "config/schema.hpp"
#include "http/head_parser.hpp"
#include "limits/permit.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "runtime/compile.hpp"
#include "simulate/logged_request.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace stint::simulate {

// What became, or would become, of a request.
struct Verdict {
    enum class Kind : std::uint8_t { admitted, refused, unrouted };
    Kind kind = Kind::unrouted;
    std::string route;        // empty: none takes it
    std::string limit;        // that refuses
    std::string key;          // of it, as text; empty without one
    bool holds_slots = false; // in caps, for as long as the log says that it lasted
};

// What really happened, by the log.
[[nodiscard]] Verdict verdict_of_log(const LoggedRequest& request);

// The code that decides over live requests, with `now` from the log: wall and monotonic clock go
// the same way.
class Replay {
  public:
    explicit Replay(const config::Config& config);

    // Requests come in the order of their time.
    [[nodiscard]] Verdict judge(const LoggedRequest& request);

  private:
    struct Held {
        SteadyTime until;
        limits::Permit permit;
    };

    void release_until(SteadyTime now) noexcept;
    [[nodiscard]] const routing::Route*
    route_of(const LoggedRequest& request, routing::KeyFacts& facts);
    [[nodiscard]] Verdict admit(
        const LoggedRequest& request, const routing::Route& route, const routing::KeyFacts& facts);

    limits::Registry registry_;
    observe::MetricSlots slots_;
    runtime::Compiled compiled_;
    http::HeadParser parser_;
    std::string head_;
    std::string host_scratch_;
    std::string path_scratch_;
    std::string key_scratch_;
    std::vector<Held> held_; // a heap, the first to end first
};

} // namespace stint::simulate
