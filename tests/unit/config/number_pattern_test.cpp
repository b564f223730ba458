#include "config/fields/number_pattern.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <regex>
#include <string>
#include <utility>

namespace stint::config {

TEST_CASE("a pattern matches the numbers between its bounds, and no others") {
    constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 10> bounds{
        {{0, 0},
         {0, 9},
         {1, 1024},
         {5, 47},
         {8, 1000},
         {100, 100},
         {99, 101},
         {190, 1204},
         {400, 599},
         {7, 1999}}};
    for (const auto& [low, high] : bounds) {
        const std::regex pattern{number_pattern(low, high)};
        for (std::uint64_t number = 0; number <= 2'100; ++number) {
            CAPTURE(low);
            CAPTURE(high);
            CAPTURE(number);
            CHECK(
                std::regex_match(std::to_string(number), pattern) ==
                (number >= low && number <= high));
        }
        CHECK_FALSE(std::regex_match(std::string{"0"}.append(std::to_string(high)), pattern));
    }
}

TEST_CASE("a pattern for the largest bounds") {
    const std::regex pattern{number_pattern(1, UINT64_MAX)};
    CHECK(std::regex_match("18446744073709551615", pattern));
    CHECK_FALSE(std::regex_match("18446744073709551616", pattern));
}

} // namespace stint::config
