// When operators' changes end.
#include "net/clock.hpp"
#include "runtime/operator_changes.hpp"
#include "silent_room.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace stint;
using namespace stint::runtime;

namespace {

// A change that has expired already: it ends at the first look.
LimitChange expired_block() {
    return {
        .target = {"l", LimitChange::Kind::block_key, "k"}, .expires = net::read_steady_clock()};
}

struct Operators {
    boost::asio::io_context control{};
    limits::Registry registry{};
    test::SilentRoom room{};
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};
    std::vector<std::set<std::string>> published{};
    OperatorChanges changes{
        control, locks, room, [this](const auto& limits) { published.push_back(limits); }};
};

} // namespace

TEST_CASE("restored changes do not end before the configuration with them is in force") {
    Operators of;

    of.changes.restore({expired_block()});
    of.control.poll();

    CHECK(of.changes.overlay().limits().all().size() == 1);
    CHECK(of.published.empty());

    of.changes.start();
    of.control.restart();
    of.control.poll();

    CHECK(of.changes.overlay().limits().empty());
    CHECK(of.published == std::vector{std::set<std::string>{"l"}});
}
