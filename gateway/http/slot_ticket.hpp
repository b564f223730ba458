// X-Stint-Ticket: the ticket that a refused client gets. The client sends it with its next attempt,
// to claim the slot reserved for it in a coming window. A ticket has the slot's number and a seal
// that only this process can make, so that no client claims another's slot by counting. This code
// does not know which slots exist.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

struct SlotName {
    std::uint64_t limit = 0; // unique per limit in the process
    Hash128 counter{};       // counter of the limit: the hash of its key
    std::uint64_t number = 0;
};

// Adds a ticket of 48 characters to the field's value; "." separates several tickets, one for each
// limit. hasher: used for nothing but tickets, so that no client can obtain a seal in another way.
void add_ticket(std::string& value, const SlotName& slot, const KeyHasher& hasher);

// Returns the number of the slot of this limit and counter for which the request has a ticket; 0 if
// it has none. Skips tickets that are malformed, forged, or of another limit, counter or process.
// The time this takes reveals nothing of the right seal.
[[nodiscard]] std::uint64_t find_ticket(
    std::span<const Field> fields,
    std::uint64_t limit,
    Hash128 counter,
    const KeyHasher& hasher) noexcept;

} // namespace stint::http
