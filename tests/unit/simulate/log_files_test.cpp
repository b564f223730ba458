#include "fixture.hpp"
#include "simulate/log_files.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

namespace {

// The targets in the order in which they come.
std::vector<std::string> targets(LogFiles& logs) {
    std::vector<std::string> all;
    while (const auto request = logs.next())
        all.push_back(request->request.target);
    return all;
}

std::vector<std::string> targets_of(const std::vector<std::string>& names) {
    auto logs = LogFiles::open(names);
    REQUIRE(logs.has_value());
    return targets(*logs);
}

std::string named(Duration since_noon, const std::string& target, double ms = 1) {
    return line(since_noon, {{"path", target}, {"duration_ms", ms}});
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("requests come in the order in which they began, not in which they ended") {
    const Folder folder;
    const auto log = folder.write(
        "log", named(1s, "/second") + named(2s, "/third") + named(0s, "/first", 60'000));

    auto logs = LogFiles::open({log});

    REQUIRE(logs.has_value());
    CHECK(targets(*logs) == Names{"/first", "/second", "/third"});
    CHECK(logs->summary().late == 0);
}

TEST_CASE("requests of one instant keep the log's order") {
    const Folder folder;
    const auto log = folder.write("log", named(0s, "/a") + named(0s, "/b") + named(0s, "/c"));

    CHECK(targets_of({log}) == Names{"/a", "/b", "/c"});
}

TEST_CASE("files are merged by time, in whatever order they are named") {
    const Folder folder;
    const auto one = folder.write("one", named(0s, "/1") + named(2s, "/3"));
    const auto two = folder.write("two", named(1s, "/2") + named(3s, "/4"));

    CHECK(targets_of({two, one}) == Names{"/1", "/2", "/3", "/4"});
}

TEST_CASE("a request that ends too long after it began is told apart and moved up") {
    const Folder folder;
    std::string text;
    for (std::size_t i = 0; i < LogFiles::look_ahead + 10; ++i)
        text += named(1s + 1ms * i, "/");
    const auto log = folder.write("log", text + named(0s, "/late", 100'000));

    auto logs = LogFiles::open({log});
    const auto all = targets(*logs);

    CHECK(all.size() == LogFiles::look_ahead + 11);
    CHECK(logs->summary().late == 1);
}

TEST_CASE("lines that cannot be read are counted and the first are shown") {
    const Folder folder;
    std::string text = named(0s, "/");
    for (int i = 0; i < 7; ++i)
        text += "nonsense\n";
    text += line(0s, {{"decision", "rejected"}, {"status", 400}});
    const auto log = folder.write("log", text + std::string(2 << 20, 'x') + "\n" + named(1s, "/"));

    auto logs = LogFiles::open({log});
    CHECK(targets(*logs).size() == 2);

    CHECK(logs->summary().lines == 11);
    CHECK(logs->summary().malformed == 8);
    CHECK(logs->summary().unrouted == 1);
    REQUIRE(logs->summary().first_malformed.size() == 5);
    CHECK(logs->summary().first_malformed[0] == log + ":2: not a JSON object");
}

TEST_CASE("a last line needs no end and an empty file has none") {
    const Folder folder;
    std::string text = named(0s, "/");
    text.pop_back();
    const auto log = folder.write("log", text);
    const auto empty = folder.write("empty", "");

    CHECK(targets_of({log}).size() == 1);
    CHECK(targets_of({empty}).empty());
}

TEST_CASE("a file that is not there or is a folder is an error for a person") {
    const Folder folder;
    CHECK(
        LogFiles::open({"/nonexistent"}).error() ==
        "/nonexistent: cannot be read: No such file or directory");

    auto logs = LogFiles::open({"/"});
    REQUIRE(logs.has_value());
    CHECK(targets(*logs).empty());
    CHECK(logs->failure() == "/: cannot be read: Is a directory");
}
