// X-Stint-Ticket: what a refused request is given to come back with, so that its slot in a coming
// window is its own. A slot's number and a seal that only this process can make: nobody claims
// another's by counting. Which slots there are is not known here.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

struct SlotName {
    std::uint64_t limit = 0; // another for each limit of the process
    Hash128 counter{};       // of the limit: the key's hash
    std::uint64_t number = 0;
};

// Adds a ticket of 48 characters to the field's value; "." parts several, one for each limit.
// hasher: of nothing but tickets, so that no client can have a seal made by another way.
void add_ticket(std::string& value, const SlotName& slot, const KeyHasher& hasher);

// The number of the slot of this limit and counter for which the request has a ticket; 0: it has
// none. What is malformed, of another limit, counter or process, or forged is passed over, in time
// that says nothing of the right seal.
[[nodiscard]] std::uint64_t find_ticket(
    std::span<const Field> fields,
    std::uint64_t limit,
    Hash128 counter,
    const KeyHasher& hasher) noexcept;

} // namespace stint::http
