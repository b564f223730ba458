// The bodies of the messages between the process that serves and the one that is to replace it.
// Pure.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/cooldown/pause_exchange.hpp"
#include "limits/permit.hpp"
#include "runtime/runtime_overlay.hpp"
#include "runtime/state_file.hpp"
#include "server/successor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::runtime {

// Slots of a cap that requests in flight hold.
struct HeldSlot {
    std::string limit; // key_of() the limit's identity
    Hash128 key{};
    std::uint64_t slots = 0;
};

// A return by a request in flight: slots of a cap, or a part of a window's charge.
struct GivenBack {
    std::string limit; // key_of() the limit's identity
    Hash128 key{};
    limits::Receipt receipt{};
    std::uint64_t cost = 0;
};

// A pause that an upstream has asked for.
struct HandedPause {
    limits::CooldownIdentity of;
    Hash128 digest{}; // digest_of() the key's text
    limits::SharedPause pause{};
    // The key and its text, as CooldownSet::of() takes them. Nothing: the cool-down is a new one.
    std::optional<std::pair<Hash128, std::string>> key{};
};

// A pause of a counter that callers have reported.
struct ReportedPause {
    std::string limit; // key_of() the limit's identity
    Hash128 key{};
    limits::SharedPause pause{};
};

// The counts and grants of the former process at the end of its decisions.
struct HandedState {
    StateFile::Contents contents; // as a state file has it
    std::vector<HeldSlot> slots;
    std::vector<DrainedEndpoint> drained; // by operators
    std::vector<ReportedPause> reported;
    std::string ticket_keys; // tls::TicketKeys::save()
};

[[nodiscard]] std::string encode(const HandedState& state);
[[nodiscard]] std::string encode(const GivenBack& given);
[[nodiscard]] std::string encode(const HandedPause& pause);
[[nodiscard]] std::string encode(const server::HandedConnection& connection); // not its socket

// Return nothing for what encode() has not made.
[[nodiscard]] std::optional<HandedState> decode_state(std::string_view body);
[[nodiscard]] std::optional<GivenBack> decode_given_back(std::string_view body);
[[nodiscard]] std::optional<HandedPause> decode_pause(std::string_view body);
[[nodiscard]] std::optional<server::HandedConnection> decode_connection(std::string_view body);

} // namespace stint::runtime
