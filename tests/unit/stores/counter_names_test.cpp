#include "stores/counter_names.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>

using namespace stint;
using namespace stint::stores;
using namespace std::chrono_literals;

namespace {

limits::LimitIdentity identity() {
    return {.name = "api", .key = "client address", .per = 1s};
}

} // namespace

TEST_CASE("all gateways with one prefix and one secret have one name for a counter") {
    const CounterNames names{"stint", "secret"};
    CHECK(names.registry() == CounterNames{"stint", "secret"}.registry());
    CHECK(names.registry().starts_with("{stint}:r:"));
    CHECK(names.registry().size() == std::string{"{stint}:r:"}.size() + 8);
    CHECK(names.registry() != CounterNames{"stint", "other"}.registry()); // another store
    CHECK(CounterNames{"stint", ""}.registry() == "{stint}:r");
    const std::string name = names.counter(identity(), "192.0.2.1");
    CHECK(name == CounterNames{"stint", "secret"}.counter(identity(), "192.0.2.1"));
    CHECK(name.size() == std::string{"{stint}:c:"}.size() + 32);
    CHECK(name.starts_with("{stint}:c:"));
    CHECK(name.find_first_not_of("0123456789abcdef", 12) == std::string::npos);
    CHECK(name != CounterNames{"stint", "other"}.counter(identity(), "192.0.2.1"));
    CHECK(
        CounterNames{"a", ""}.counter(identity(), "x").substr(8) !=
        CounterNames{"b", ""}.counter(identity(), "x").substr(8));
}

TEST_CASE("whatever makes counts incomparable makes another name") {
    const CounterNames names{"stint", ""};
    std::set<std::string> all;
    const auto add = [&](const auto& change, const std::string& text = "a") {
        limits::LimitIdentity changed = identity();
        change(changed);
        all.insert(names.counter(changed, text));
    };
    add([](auto&) {});
    add([](auto&) {}, "b");
    add([](auto&) {}, "");
    add([](auto& each) { each.name = "other"; });
    add([](auto& each) { each.key = "other"; });
    add([](auto& each) { each.algorithm = limits::Algorithm::sliding_window; });
    add([](auto& each) { each.anchor = limits::Anchor::clock; });
    add([](auto& each) { each.per = 2s; });
    add([](auto& each) { each.time_zone = "Europe/Berlin"; });
    add([](auto& each) { each.unit = CalendarUnit::week; });
    // Texts that join to the same.
    add([](auto& each) {
        each.name = "api1";
        each.key = "x";
    });
    add([](auto& each) {
        each.name = "api";
        each.key = "1x";
    });
    CHECK(all.size() == 12);
}
