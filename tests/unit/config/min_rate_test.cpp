// Bounds on clients: how slow they may be, and how many connections they may have.
#include "config_support.hpp"

namespace stint::config {

using namespace std::chrono_literals;

namespace {

Config with(std::string_view lines) {
    return loaded(std::string{base} + std::string{lines} + "\nroutes: []\n");
}

const std::string end = "\nroutes: []\n";

} // namespace

TEST_CASE("a minimum rate has its defaults, and parts of it may be switched off") {
    const MinRate usual = with("").min_rate;
    CHECK(usual.head == 64);
    CHECK(usual.body == 64);
    CHECK(usual.after == 10s);

    const MinRate changed = with("min_rate: {head: off, body: 1KiB}").min_rate;
    CHECK(changed.head == 0);
    CHECK(changed.body == 1024);
    CHECK(changed.after == 10s);
    CHECK(with("min_rate: {after: 5s}").min_rate.after == 5s);

    const MinRate off = with("min_rate: off").min_rate;
    CHECK(off.head == 0);
    CHECK(off.body == 0);
}

TEST_CASE("what is no minimum rate is a mistake") {
    check_added(
        "min_rate: fast" + end,
        {"3:11: min_rate: \"fast\" is unknown; expected off or a map such as {head: 64B}"});
    check_added("min_rate: {hed: 1B}" + end, {"3:12: min_rate.hed: unknown key; did you mean"});
    check_added(
        "min_rate: {head: 0}" + end,
        {"3:18: min_rate.head: \"0\" is zero; expected 1 to 1048576KiB"});
    check_added("min_rate: {body: 2GiB}" + end, {"3:18: min_rate.body: \"2GiB\" is too large"});
    check_added("min_rate: {body: slow}" + end, {"3:18: or off"});
    check_added("min_rate: {after: 10}" + end, {"3:19: min_rate.after: \"10\" has no unit"});
    check_added("min_rate: [64B]" + end, {"3:11: min_rate: found a list; expected off or a map"});
}

TEST_CASE("a client's connections are bounded by a number or not at all") {
    CHECK(with("").load.max_connections_per_client == 0);
    CHECK(with("max_connections_per_client: off").load.max_connections_per_client == 0);
    CHECK(with("max_connections_per_client: 100").load.max_connections_per_client == 100);
    check_added(
        "max_connections_per_client: 0" + end,
        {"3:29: max_connections_per_client: \"0\" is zero; expected a whole number from 1 to "
         "1000000, or off"});
    check_added("max_connections_per_client: many" + end, {"3:29: or off"});
}

} // namespace stint::config
