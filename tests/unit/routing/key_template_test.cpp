#include "routing/key_template.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::routing;

TEST_CASE("a key's text is what the configuration calls it") {
    CHECK(KeyTemplate{}.text().empty());
    CHECK(KeyTemplate{KeyTemplate::Source::client_ip}.text() == "client_ip");
}

TEST_CASE("only the template without a source is empty") {
    CHECK(KeyTemplate{}.empty());
    CHECK_FALSE(KeyTemplate{KeyTemplate::Source::client_ip}.empty());
}

TEST_CASE("a key of the client's address is that address and nothing else") {
    const KeyTemplate by_client{KeyTemplate::Source::client_ip};
    const Hash128 address{.high = 7, .low = 9};

    CHECK(by_client.evaluate({address}) == address);
    CHECK(by_client.evaluate({address}) != by_client.evaluate({Hash128{7, 8}}));
}

TEST_CASE("without a source every request has one key") {
    CHECK(KeyTemplate{}.evaluate({Hash128{1, 2}}) == KeyTemplate{}.evaluate({Hash128{3, 4}}));
}
