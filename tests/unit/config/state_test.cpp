// Where state is kept, and mistakes in that.
#include "config_support.hpp"

#include <filesystem>

namespace stint::config {

namespace {

std::optional<State> state(std::string_view lines, const char* file = "/etc/stint/stint.yaml") {
    const auto result = load_text(std::string{base} + std::string{lines} + "\nroutes: []\n", file);
    if (!result)
        FAIL(text_of(result.error()));
    return result->state;
}

const std::string end = "\nroutes: []\n";

} // namespace

TEST_CASE("nothing is kept unless the file says where") {
    CHECK_FALSE(state(""));
}

TEST_CASE("state is a path, or a map with one") {
    const auto path = state("state: /var/lib/stint/state.db");
    REQUIRE(path);
    CHECK(path->file == "/var/lib/stint/state.db");
    CHECK_FALSE(path->closed_on_start);

    const auto map = state("state: {file: kept/state.db, on_start: closed}");
    REQUIRE(map);
    CHECK(map->file == "/etc/stint/kept/state.db");
    CHECK(map->closed_on_start);
    CHECK_FALSE(state("state: {file: state.db, on_start: open}")->closed_on_start);
}

TEST_CASE("a start may be closed without a file") {
    const auto closed = state("state: {on_start: closed}");
    REQUIRE(closed);
    CHECK(closed->file.empty());
    CHECK(closed->closed_on_start);
}

TEST_CASE("a state file that is nowhere yet is no mistake") {
    CHECK(state("state: /none/such/state.db")->file == "/none/such/state.db");
}

TEST_CASE("what is no state is a mistake") {
    check_added("state: []" + end, {"3:8: state: found a list; expected the path of a file"});
    check_added("state: {}" + end, {"3:8: state: is empty; expected file, on_start or both"});
    check_added("state: ''" + end, {"3:8: state: \"\" is not the path of a file"});
    check_added("state: kept/" + end, {"3:8: state: \"kept/\" is not the path of a file"});
    check_added("state: /tmp" + end, {"3:8: state: \"/tmp\" is a folder; expected the path"});
    check_added(
        "state: {fil: a, on_start: shut}" + end,
        {"3:9: state.fil: unknown key; did you mean \"file\"?",
         "3:27: state.on_start: \"shut\" is unknown; expected open or closed"});
    check_added("state: test.yaml" + end, {"3:8: state: \"test.yaml\" is this configuration"});
    check_added(
        "state: {file: ./a/../test.yaml}" + end,
        {"3:15: state.file: \"./a/../test.yaml\" is this"});
}

} // namespace stint::config
