#include "routing/pricing.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stint;
using namespace stint::routing;

TEST_CASE("a cost is a whole number from 1, and nothing else is one") {
    CHECK(parse_cost("1") == 1);
    CHECK(parse_cost("0042") == 42);
    CHECK(parse_cost("99999999999999999999999") == 1'000'000'000'000);
    for (const char* text : {"", "0", "-1", "+1", "1.5", " 1", "1 ", "0x10", "many"})
        CHECK_FALSE(parse_cost(text));
}

TEST_CASE("the cost is that of the first field of the name, whatever its case") {
    const std::array<Field, 3> fields{
        Field{FieldId::other, "Host", "3"}, Field{FieldId::other, "X-COST", "4"},
        Field{FieldId::other, "x-cost", "5"}};

    CHECK(cost_in(fields, "x-cost") == 4);
    CHECK_FALSE(cost_in(fields, "x-price"));
}

TEST_CASE("a charge may change after the admission only where something may change it") {
    Pricing fixed;
    fixed.cost = 5;
    fixed.request_field = "x-cost";
    CHECK_FALSE(fixed.refundable());

    Pricing told;
    told.response_field = "x-cost";
    CHECK(told.refundable());
    Pricing counted;
    counted.count_when = {401};
    CHECK(counted.refundable());
    Pricing refunded;
    refunded.refund = {502};
    CHECK(refunded.refundable());
}
