#include "config/values/values.hpp"

#include <doctest/doctest.h>

namespace stint::config {

using namespace std::chrono_literals;

TEST_CASE("a duration is exact to the nanosecond") {
    const auto length = [](std::string_view text) {
        const auto parsed = parse_duration(text);
        return parsed ? *parsed : -1ns;
    };

    CHECK(length("800ms") == 800ms);
    CHECK(length("0.8s") == 800ms);
    CHECK(length("1.5h") == 90min);
    CHECK(length("0.25d") == 6h);
    CHECK(length("1.000000001s") == 1s + 1ns);
    CHECK(length("1.0000000010s") == 1s + 1ns);
    CHECK(length("1.0000000001s") == -1ns);
    CHECK(length("366d") == 366 * 24h);
    CHECK(length("366.0d") == 366 * 24h);
    CHECK(length("31622400.000000001s") == -1ns);
    CHECK(length("8784h") == 366 * 24h);
    CHECK(length("1.ms") == -1ns);
    CHECK(length(".5s") == -1ns);
    CHECK(length("+5s") == -1ns);
    CHECK(length("5S") == -1ns);
    CHECK(length("1h30m") == -1ns);
    CHECK(length("") == -1ns);
    CHECK(length("99999999999999999999d") == -1ns);
    CHECK(length("213504d") == -1ns);
}

TEST_CASE("a size has a binary unit or none") {
    const auto size = [](std::string_view text) {
        const auto parsed = parse_size(text, 1, std::size_t{1} << 40U);
        return parsed ? *parsed : 0;
    };

    CHECK(size("7") == 7);
    CHECK(size("7B") == 7);
    CHECK(size("2KiB") == 2'048);
    CHECK(size("3MiB") == 3'145'728);
    CHECK(size("1GiB") == 1'073'741'824);
    CHECK(size("1KB") == 0);
    CHECK(size("1k") == 0);
    CHECK(size("1.5KiB") == 0);
    CHECK(size("18446744073709551615GiB") == 0);
}

TEST_CASE("a count keeps to its range") {
    CHECK(parse_count("1", 1, 9));
    CHECK(parse_count("9", 1, 9));
    CHECK_FALSE(parse_count("10", 1, 9));
    CHECK_FALSE(parse_count("1", 2, 9));
    CHECK_FALSE(parse_count("", 1, 9));
    CHECK_FALSE(parse_count(" 1", 1, 9));
    CHECK(parse_count("18446744073709551615", 1, UINT64_MAX));
    CHECK_FALSE(parse_count("18446744073709551616", 1, UINT64_MAX));
}

TEST_CASE("a name has 1 to 64 harmless characters") {
    CHECK(parse_name("a"));
    CHECK(parse_name("A-z_0.9"));
    CHECK(parse_name(std::string(64, 'a')));
    CHECK_FALSE(parse_name(std::string(65, 'a')));
    CHECK_FALSE(parse_name(""));
    CHECK_FALSE(parse_name("a b"));
    CHECK_FALSE(parse_name("caf\xC3\xA9"));
}

} // namespace stint::config
