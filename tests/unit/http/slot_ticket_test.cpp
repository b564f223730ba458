#include "http/slot_ticket.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;

std::string ticket(const SlotName& slot, const KeyHasher& hasher) {
    std::string value;
    add_ticket(value, slot, hasher);
    return value;
}

std::uint64_t
found(std::string_view value, std::uint64_t limit, Hash128 counter, const KeyHasher& hasher) {
    const std::array fields{
        Field{FieldId::host, "Host", "a"}, Field{FieldId::x_stint_ticket, "x-stint-ticket", value}};
    return find_ticket(fields, limit, counter, hasher);
}

} // namespace

TEST_CASE("a ticket is found by the limit and the counter that it is of") {
    const KeyHasher hasher;
    const std::string value = ticket({3, {1, 2}, 0xfedc'ba98'7654'3210}, hasher);

    CHECK(value.size() == 48);
    CHECK(found(value, 3, {1, 2}, hasher) == 0xfedc'ba98'7654'3210);
    CHECK(found(value, 4, {1, 2}, hasher) == 0);
    CHECK(found(value, 3, {1, 3}, hasher) == 0);
    CHECK(found(value, 3, {2, 2}, hasher) == 0);
    CHECK(found(value, 3, {1, 2}, KeyHasher{}) == 0); // of another process
}

TEST_CASE("of several tickets each limit finds its own") {
    const KeyHasher hasher;
    std::string value = ticket({3, {}, 7}, hasher);
    add_ticket(value, {5, {1, 1}, 8}, hasher);

    CHECK(value.size() == 97);
    CHECK(found(value, 3, {}, hasher) == 7);
    CHECK(found(value, 5, {1, 1}, hasher) == 8);
    CHECK(found("." + value + "..", 5, {1, 1}, hasher) == 8);
}

TEST_CASE("no other character will do") {
    const KeyHasher hasher;
    const std::string value = ticket({3, {}, 7}, hasher);
    for (std::size_t i = 0; i < value.size(); ++i)
        for (const char other : {'0', '1', 'f', 'F', 'x', ' ', '-'}) {
            std::string forged = value;
            forged[i] = other;
            CAPTURE(forged);
            CHECK((found(forged, 3, {}, hasher) != 0) == (forged == value));
        }
    for (std::size_t size = 0; size < value.size(); ++size)
        CHECK(found(value.substr(0, size), 3, {}, hasher) == 0);
    CHECK(found(value + "0", 3, {}, hasher) == 0);
}

TEST_CASE("a request without the field has no ticket") {
    CHECK(find_ticket({}, 3, {}, KeyHasher{}) == 0);
}
