#include "allocations.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/parser.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace stint::redis;

TEST_CASE("a command is an array of bulk texts") {
    std::string out;
    CommandWriter writer{out, 4};
    writer.add("EVALSHA");
    writer.add(-9223372036854775807 - 1);
    writer.add(12U);
    writer.add("");
    CHECK(out == "*4\r\n$7\r\nEVALSHA\r\n$20\r\n-9223372036854775808\r\n$2\r\n12\r\n$0\r\n\r\n");
}

TEST_CASE("a command is read back as its arguments, whatever bytes they have") {
    using namespace std::string_view_literals;
    const std::array arguments{"SET"sv, "a\r\nb"sv, "\0\xff"sv, ""sv};
    std::string out;
    write_command(out, arguments);
    ReplyParser parser;
    std::string_view rest = out;
    REQUIRE(parser.feed(rest) == ReplyParser::Status::complete);
    const Value value = parser.take();
    REQUIRE(value.items.size() == arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
        CHECK(value.items[i].text == arguments[i]);
    CHECK(rest.empty());
}

TEST_CASE("a command into a buffer with room allocates nothing") {
    using namespace std::string_view_literals;
    const std::array arguments{"EVALSHA"sv, "0123456789012345678901234567890123456789"sv, "1"sv};
    std::string out;
    out.reserve(1024);
    CHECK(stint::test::allocations_in([&] {
              write_command(out, arguments);
              CommandWriter{out, 1}.add(123456789);
          }) == 0);
}
