// Requests for permits and leases, and feedback, parsed from JSON bodies. Pure: no limit, no clock.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "limits/limit.hpp"

#include <boost/container/static_vector.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::permits {

inline constexpr std::chrono::milliseconds longest_wait{60'000};
inline constexpr std::uint64_t largest_batch = 1'000'000;
inline constexpr std::size_t longest_name = 1024;           // bytes; of limits, keys and owners
inline constexpr std::size_t longest_idempotency_key = 256; // bytes
inline constexpr std::uint64_t most_holders = 1'000'000;    // per lock
inline constexpr std::chrono::seconds usual_ttl{30};        // a lease's default ttl

// A fixed-window limit that a client defines in its own request instead of the configuration.
struct Brought {
    std::uint64_t requests = 0; // per window, at least 1
    Duration per{};             // at least 1 ms

    friend bool operator==(const Brought&, const Brought&) = default;
};

// One limit in a request for permits.
struct Wanted {
    std::string_view name;
    std::optional<std::string_view> key{};
    std::uint64_t cost = 1; // 0: only reads the limit's state
    std::optional<Brought> brought{};
};

// A request for permits. Its views are valid until the RequestReader's next call.
struct AcquireRequest {
    boost::container::static_vector<Wanted, limits::max_charges> limits; // at least one
    bool listed = false;              // the reply lists the limits, even a single one
    bool ticket = false;              // also asks for a ticket, which prepays one proxied request
    Duration wait{};                  // longest wait in the queue; 0: does not wait
    std::uint64_t batch = 0;          // permits wanted at once, or as many as are left; 0: no batch
    std::string_view owner;           // the flow in fair queues; empty: the client's network
    std::string_view idempotency_key; // empty: none
};

// An upstream's response to a request that the client sent itself.
struct FeedbackRequest {
    std::string_view route; // exactly one of these two is not empty
    std::string_view limit;
    std::optional<std::string_view> key{};
    std::optional<std::string_view> host{};
    int status = 0;
    std::optional<std::string_view> retry_after{}; // value of the Retry-After field
};

// A request for one slot of a lock.
struct LockRequest {
    std::optional<std::uint64_t> max{}; // the lock's max as the client knows it; nothing: any
    Duration wait{};                    // longest wait in the queue; 0: does not wait
    Duration ttl{};
    std::string_view owner;           // may be empty
    std::string_view idempotency_key; // empty: none
    bool reentrant = false;           // the named owner may hold the lock already
};

// Reusable, one per worker; not thread-safe. Allocates nothing for a request of the usual size.
class RequestReader {
  public:
    // Reads a request for permits. The error is a sentence for the client. name: the limit in the
    // path; nothing where the body lists the limits. An empty body is an empty object.
    [[nodiscard]] Result<AcquireRequest, std::string>
    read_take(std::string_view body, std::optional<std::string_view> name);
    [[nodiscard]] Result<FeedbackRequest, std::string> read_feedback(std::string_view body);
    [[nodiscard]] Result<LockRequest, std::string>
    read_lease(std::string_view body, Duration longest_ttl);
    // Reads a request to renew a lease. Returns its ttl; nothing if the ttl is to stay unchanged.
    [[nodiscard]] Result<std::optional<Duration>, std::string>
    read_renewal(std::string_view body, Duration longest_ttl);

  private:
    [[nodiscard]] Result<const boost::json::object*, std::string> parse(std::string_view body);

    std::array<unsigned char, 8192> memory_;
    std::array<unsigned char, 2048> scratch_;
    boost::json::monotonic_resource resource_{memory_.data(), memory_.size()};
    boost::json::parser parser_{{}, {}, scratch_.data(), scratch_.size()};
    std::optional<boost::json::value> value_; // allocated in resource_
};

} // namespace stint::permits
