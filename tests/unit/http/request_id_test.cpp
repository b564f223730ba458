#include "http/request_id.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::http;
using namespace std::chrono_literals;

std::string make(RequestIdSource& source, std::chrono::nanoseconds since_epoch) {
    const RequestIdSource::Text text = source.make(WallTime{since_epoch});
    return {text.data(), text.size()};
}

} // namespace

TEST_CASE("a client's request id is well-formed up to 128 of the allowed characters") {
    CHECK(well_formed_request_id("aZ09._-:+/=@"));
    CHECK(well_formed_request_id(std::string(128, 'a')));
    CHECK_FALSE(well_formed_request_id(std::string(129, 'a')));
    CHECK_FALSE(well_formed_request_id(""));
    for (const std::string_view bad : {"a b", "a,b", "a\"b", "a\tb", "a\xc3\xa9", "a{b"})
        CHECK_FALSE(well_formed_request_id(bad));
}

TEST_CASE("a made request id is a UUIDv7 of the time given") {
    RequestIdSource source;

    const std::string id = make(source, 0x017f22e279b0ms);

    CHECK(id.substr(0, 15) == "017f22e2-79b0-7");
    CHECK(id[18] == '-');
    CHECK(std::string_view{"89ab"}.find(id[19]) != std::string_view::npos);
    CHECK(id[23] == '-');
    CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
    CHECK(well_formed_request_id(id));
}

TEST_CASE("ids of one millisecond sort in the order of their making") {
    RequestIdSource source;
    std::string previous = make(source, 1'000'000ms);
    for (int i = 0; i < 10'000; ++i) {
        std::string id = make(source, 1'000'000ms);
        REQUIRE(id > previous);
        previous = std::move(id);
    }
}

TEST_CASE("ids go on in order when the clock steps back a little") {
    RequestIdSource source;
    const std::string before = make(source, 1'000'500ms);

    CHECK(make(source, 1'000'000ms) > before);
}

TEST_CASE("ids follow the clock when it steps back a lot") {
    RequestIdSource source;
    const std::string before = make(source, 9'000'000ms);

    CHECK(make(source, 1'000'000ms) < before);
}

TEST_CASE("two sources make different ids") {
    RequestIdSource a;
    RequestIdSource b;
    std::set<std::string> ids;

    for (int i = 0; i < 100; ++i) {
        ids.insert(make(a, 1ms));
        ids.insert(make(b, 1ms));
    }

    CHECK(ids.size() == 200);
}
