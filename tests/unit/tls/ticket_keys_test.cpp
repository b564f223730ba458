#include "tls/ticket_keys.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

using namespace std::chrono_literals;

SteadyTime at(std::chrono::seconds seconds) {
    return SteadyTime{seconds};
}

} // namespace

TEST_CASE("a key seals for half a day, and opens for as long again") {
    TicketKeys keys{at(0s)};
    const TicketKeys::Key first = keys.newest();

    keys.rotate(at(12h - 1s));
    CHECK(keys.newest().name == first.name);
    keys.rotate(at(12h));
    const TicketKeys::Key second = keys.newest();
    CHECK(second.name != first.name);
    CHECK(second.cipher != first.cipher);
    CHECK(second.checksum != first.checksum);
    REQUIRE(keys.find(first.name.data()));
    CHECK(keys.find(first.name.data())->key.cipher == first.cipher);
    CHECK_FALSE(keys.find(first.name.data())->newest);
    CHECK(keys.find(second.name.data())->newest);

    keys.rotate(at(24h - 1s));
    CHECK(keys.find(first.name.data()));
    keys.rotate(at(24h));
    CHECK_FALSE(keys.find(first.name.data()));
    CHECK(keys.find(second.name.data()));
}

TEST_CASE("a key of nobody is not found") {
    const TicketKeys keys{at(0s)};
    const TicketKeys::Key other = TicketKeys{at(0s)}.newest();

    CHECK_FALSE(keys.find(other.name.data()));
}

} // namespace stint::tls
