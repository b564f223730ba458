#include "base/live_objects.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using stint::LiveObjects;

namespace {

std::shared_ptr<int> made(int value) {
    return std::make_shared<int>(value);
}

} // namespace

TEST_CASE("a key has one object for as long as somebody holds it") {
    LiveObjects<std::string, int> objects;
    auto first = objects.obtain("a", [] { return made(1); });
    CHECK(objects.obtain("a", [] { return made(2); }) == first);
    CHECK(*objects.obtain("b", [] { return made(3); }) == 3);

    first.reset();
    const auto second = objects.obtain("a", [] { return made(4); });

    CHECK(*second == 4);
    CHECK(objects.alive() == std::vector{second});
}

TEST_CASE("objects that have gone are forgotten, but not looked for each time") {
    LiveObjects<int, int> objects;
    std::vector<std::shared_ptr<int>> held;
    for (int i = 0; i < 1000; ++i)
        held.push_back(objects.obtain(i, [&] { return made(i); }));
    held.resize(10);
    const std::size_t before = objects.size();

    for (int i = 1000; i < 10'000; ++i)
        (void)objects.obtain(i, [&] { return made(i); });

    CHECK(objects.size() <= before + 1024);
    CHECK(objects.alive() == held);
}
