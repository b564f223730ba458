#include "routing/log_key.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::routing;

TEST_CASE("a key is logged as a hash, by its first bytes, whole, or not") {
    const Key key{.hash = {0x0123456789abcdef, 7}, .text = "sk_live_0123456789abcdef"};
    CHECK(logged(key, LogKey::hash) == "0123456789abcdef");
    CHECK(logged(key, LogKey::prefix) == "sk_live_...");
    CHECK(logged(key, LogKey::full) == "sk_live_0123456789abcdef");
    CHECK(logged(key, LogKey::off).empty());
}

TEST_CASE("a prefix shows no more than a third of a short key") {
    CHECK(logged({.hash = {}, .text = "secret"}, LogKey::prefix) == "se...");
    CHECK(logged({.hash = {}, .text = "k"}, LogKey::prefix) == "...");
}

TEST_CASE("a missing key is not logged") {
    const Key none{.hash = {1, 1}, .text = {}, .missing = true};
    for (const LogKey as : {LogKey::hash, LogKey::prefix, LogKey::full})
        CHECK(logged(none, as).empty());
}
