// Rate-limit fields of a response: RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-11) and the older trio of Limit, Remaining and Reset.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "http/head_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

// The state of one limit that clients may see, at the moment of its decision.
struct PolicyState {
    std::string_view name; // printable ASCII; '"' and '\' are escaped
    std::uint64_t quota = 0;
    std::uint64_t remaining = 0;
    Duration window{};           // zero for a concurrency cap
    SteadyTime more_at{};        // when more will be available; not used for a cap
    std::uint64_t partition = 0; // partition_of() the key, if `keyed`
    bool keyed = false;
    bool draft = false;  // shown in the draft's RateLimit fields
    bool legacy = false; // may be shown in the older trio

    [[nodiscard]] bool is_cap() const noexcept { return window == Duration::zero(); }
};

// Returns the partition name of a key that clients see: equal for equal keys while the process
// lives. It does not help to find keys that collide in a counter table, as neither half of the hash
// can be derived from it.
[[nodiscard]] constexpr std::uint64_t partition_of(const Hash128& key) noexcept {
    return key.high ^ key.low;
}

// The spelling of the older trio, for which there is no standard.
struct LegacyStyle {
    enum class Prefix : std::uint8_t { x_ratelimit, ratelimit }; // "X-RateLimit-", "RateLimit-"
    enum class Reset : std::uint8_t { delta, epoch }; // seconds from now, or of Unix time
    Prefix prefix = Prefix::x_ratelimit;
    Reset reset = Reset::delta;
};

struct PolicyFields {
    std::span<const PolicyState> policies;
    LegacyStyle legacy;
    Now now; // the time at which the response's head is written
};

// Appends the fields' lines. `theirs`: the fields that the upstream's response carries and that the
// client receives unchanged.
//  - The draft's two fields are Lists, and several lines form one List (RFC 9651 section 4.2), so
//    the gateway's stand on lines of their own behind the upstream's. A policy name that the
//    upstream uses, too, gets "stint-" in front, in both fields.
//  - If a field of the upstream's is no List of Strings, the gateway's are left out, in both
//    fields: a recipient has to ignore a malformed List, or may read it in an older form.
//  - Windows are written in whole seconds, rounded up, at least 1. Times until more is available
//    are written likewise, but may be 0.
//  - The trio describes one limit: of the windows that may be shown, the one with the least
//    remaining, and of equal ones the one with the longest time until more is available. A cap has
//    no reset and is never in the trio. If the upstream sends a trio (of either prefix), the
//    gateway's is left out.
// Allocates nothing but in `out`.
void write_policy_fields(
    HeadBuffer& out, const PolicyFields& ours, std::span<const Field> theirs = {});

} // namespace stint::http
