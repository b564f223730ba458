#include "fixture.hpp"
#include "net/name_lookup.hpp"
#include "redis/address_source.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace stint::redis;
using stint::test::run_until;
namespace net = stint::net;

TEST_CASE("the addresses of a host are tried in turn") {
    net::asio::io_context loop;
    std::optional<AddressSource::Answer> found;
    const auto find = [&](AddressSource& source) {
        found.reset();
        source.find([&](const AddressSource::Answer& answer) { found = answer; });
        CHECK_FALSE(found.has_value());
        run_until(loop, [&] { return found.has_value(); });
        return *found;
    };
    SUBCASE("an address") {
        HostAddresses source{loop.get_executor(), "::1", 6379, "redis.internal"};
        for (int i = 0; i < 3; ++i) {
            CHECK(find(source).address.text == "[::1]:6379");
            CHECK(found->address.server_name == "redis.internal");
            source.note_failure();
        }
    }
    SUBCASE("a name") {
        HostAddresses source{loop.get_executor(), "localhost", 6379, ""};
        const std::string first = find(source).address.text;
        CHECK(first.starts_with("localhost:6379 ("));
        CHECK(find(source).address.text == first); // it has not failed
        std::set<std::string> texts;
        for (int i = 0; i < 20; ++i) { // round and round
            source.note_failure();
            CHECK(find(source).failure.empty());
            texts.insert(found->address.text);
        }
        std::optional<std::vector<std::string>> addresses;
        net::NameLookup lookup{loop};
        lookup.begin("localhost", [&](const auto& answer) { addresses = answer.addresses; });
        run_until(loop, [&] { return addresses.has_value(); });
        CHECK(texts.size() == std::set(addresses->begin(), addresses->end()).size());
    }
    SUBCASE("no name") {
        const std::string impossible(64, 'x'); // longer than a label may be
        HostAddresses source{loop.get_executor(), impossible, 6379, ""};
        CHECK(find(source).failure.starts_with("look up " + impossible + ": "));
    }
    SUBCASE("a search that is cancelled") {
        HostAddresses source{loop.get_executor(), "127.0.0.1", 6379, ""};
        source.find([&](const AddressSource::Answer& answer) { found = answer; });
        source.cancel();
        loop.run();
        CHECK_FALSE(found.has_value());
    }
}
