#include "http/slot_ticket.hpp"

#include "http/hex.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace stint::http {

namespace {

constexpr std::size_t ticket_size = 48;
constexpr char between = '.';

using Ticket = std::array<char, ticket_size>;

Ticket ticket_for(const SlotName& slot, const KeyHasher& hasher) noexcept {
    const std::array<std::uint64_t, 4> said{
        slot.limit, slot.counter.high, slot.counter.low, slot.number};
    std::array<char, sizeof said> text;
    std::memcpy(text.data(), said.data(), sizeof said);
    const Hash128 seal = hasher({text.data(), text.size()});
    Ticket ticket;
    write_hex(ticket.data(), slot.number);
    write_hex(ticket.data() + hex_digits, seal.high);
    write_hex(ticket.data() + 2 * hex_digits, seal.low);
    return ticket;
}

// Returns the slot number in a ticket; 0 if the ticket is not valid for this limit and counter.
std::uint64_t number_in(std::string_view text, SlotName slot, const KeyHasher& hasher) noexcept {
    if (text.size() != ticket_size)
        return 0;
    const char* const end = text.data() + hex_digits;
    if (std::from_chars(text.data(), end, slot.number, 16).ptr != end)
        return 0;
    const Ticket right = ticket_for(slot, hasher);
    return equal_in_constant_time(text, {right.data(), right.size()}) ? slot.number : 0;
}

} // namespace

void add_ticket(std::string& value, const SlotName& slot, const KeyHasher& hasher) {
    if (!value.empty())
        value += between;
    const Ticket ticket = ticket_for(slot, hasher);
    value.append(ticket.data(), ticket.size());
}

std::uint64_t find_ticket(
    std::span<const Field> fields,
    std::uint64_t limit,
    Hash128 counter,
    const KeyHasher& hasher) noexcept {
    for (const Field& field : fields) {
        if (field.id != FieldId::x_stint_ticket)
            continue;
        for (std::string_view left = field.value; !left.empty();) {
            const std::string_view ticket = left.substr(0, left.find(between));
            left.remove_prefix(std::min(ticket.size() + 1, left.size()));
            if (const std::uint64_t number = number_in(ticket, {limit, counter, 0}, hasher);
                number != 0)
                return number;
        }
    }
    return 0;
}

} // namespace stint::http
