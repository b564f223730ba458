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

TEST_CASE("a key of the client's address tells addresses apart and nothing else") {
    const KeyHasher hasher;
    const KeyTemplate by_client{KeyTemplate::Source::client_ip};
    const auto key = [&](std::string_view ip) { return by_client.evaluate({ip}, hasher); };

    CHECK(key("\x7f\x01\x01\x01") == key(std::string{"\x7f\x01\x01\x01"}));
    CHECK(key("\x7f\x01\x01\x01") != key("\x7f\x01\x01\x02"));
    CHECK(key("") == key(""));
}

TEST_CASE("without a source every request has one key") {
    const KeyHasher hasher;

    CHECK(KeyTemplate{}.evaluate({"a"}, hasher) == KeyTemplate{}.evaluate({"b"}, hasher));
}
