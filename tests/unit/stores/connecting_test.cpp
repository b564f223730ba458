#include "stores/connecting.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace stint::stores;
using namespace std::chrono_literals;

TEST_CASE("a server that is back after half of a session is found before its shares end") {
    StoreSettings settings;
    for (const auto session : {1s, 5s, 12s, 30s, 600s}) {
        settings.time_to_live = session;
        const auto pause = server_link(settings).longest_pause;
        CHECK(settings.time_to_live / 2 + pause <= settings.time_to_live * 2 / 3);
        CHECK(pause <= 5s);
    }
}
