// Which worker gets the next connection.
#include "runtime/listener.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using stint::runtime::pick_worker;

namespace {

using Open = std::vector<std::size_t>;

} // namespace

TEST_CASE("a connection stays where it was accepted unless others have a good deal fewer") {
    CHECK(pick_worker(Open{0}, 0) == 0);
    CHECK(pick_worker(Open{0, 0}, 1) == 1);
    CHECK(pick_worker(Open{3, 3, 3}, 2) == 2);
    CHECK(pick_worker(Open{100, 80}, 0) == 0);
}

TEST_CASE("of a few connections nobody has two more than another") {
    CHECK(pick_worker(Open{1, 0}, 0) == 1);
    CHECK(pick_worker(Open{0, 1}, 1) == 0);
    CHECK(pick_worker(Open{3, 2, 2}, 0) == 1);
    CHECK(pick_worker(Open{2, 2, 1}, 1) == 2);
}

TEST_CASE("of many nobody has over a quarter more than another") {
    CHECK(pick_worker(Open{101, 80}, 0) == 1);
    CHECK(pick_worker(Open{1000, 90, 80}, 0) == 2);
}

TEST_CASE("wherever connections are accepted the first hundred are spread evenly") {
    std::mt19937 random{1};
    for (std::size_t workers = 1; workers <= 16; ++workers) {
        Open open(workers, 0);
        for (int i = 0; i < 100; ++i) {
            ++open[pick_worker(open, random() % workers)];
            const auto [fewest, most] = std::ranges::minmax(open);
            CAPTURE(workers);
            CHECK(most <= fewest + fewest / 4 + 1);
        }
    }
}
