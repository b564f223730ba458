#include "locks/saved_lease.hpp"

#include <doctest/doctest.h>

using namespace stint;
using namespace stint::locks;
using namespace std::chrono_literals;

namespace {

SavedLease lease() {
    return {
        .lock = "päge",
        .max = 3,
        .id = {1, 2},
        .fence = 1'763'818'000'000'001,
        .ttl = 30s,
        .binding = LeaseBinding::connection,
        .owner = std::string{"a\0b", 3},
        .since = WallTime{1'763'818'000s},
        .reentrant = {3, 4},
        .onces = {{5, 6}, {}}};
}

} // namespace

TEST_CASE("a lease is read as it was written") {
    const auto read = read_row(row_key({1, 2}), row_value(lease()));

    REQUIRE(read.has_value());
    CHECK(*read == lease());
}

TEST_CASE("rows that are cut short, too long, or of another form are no leases") {
    const std::string key = row_key({1, 2});
    const std::string value = row_value(lease());
    for (std::size_t size = 0; size < value.size(); ++size)
        CHECK_FALSE(read_row(key, value.substr(0, size)));

    CHECK_FALSE(read_row(key, value + '\0'));
    CHECK_FALSE(read_row(key.substr(1), value));
    std::string other = value;
    other[0] = 2;
    CHECK_FALSE(read_row(key, other));
    SavedLease nobody = lease();
    nobody.onces.clear();
    CHECK_FALSE(read_row(key, row_value(nobody)));
}
