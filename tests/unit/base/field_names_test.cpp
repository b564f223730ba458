#include "base/field_names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using stint::FieldNames;

namespace {

FieldNames names(std::vector<std::string> list) {
    return FieldNames{list};
}

} // namespace

TEST_CASE("no name is among none") {
    CHECK_FALSE(FieldNames{}.contains("X-A"));
    CHECK_FALSE(FieldNames{}.contains(""));
    CHECK_FALSE(names({"*"}).contains("X-A"));
}

TEST_CASE("a name is known however it is spelt") {
    const FieldNames listed = names({"X-Real-IP", "a"});

    for (const char* name : {"X-Real-IP", "x-real-ip", "X-REAL-IP", "X_Real_IP", "x-real_ip", "A"})
        CHECK(listed.contains(name));
    for (const char* name : {"X-Real-I", "X-Real-IPs", "Y-Real-IP", "XX-Real-IP", "X-Real.IP", "b"})
        CHECK_FALSE(listed.contains(name));
}

TEST_CASE("a star stands for whatever follows, or nothing") {
    const FieldNames listed = names({"X-Forwarded-*"});

    for (const char* name : {"X-Forwarded-", "X-Forwarded-P", "x_forwarded_port", "X-Forwarded-*"})
        CHECK(listed.contains(name));
    CHECK(listed.contains("X-Forwarded-" + std::string(200, 'x')));
    for (const char* name : {"X-Forwarded", "X-Forwarde--", "Forwarded-For"})
        CHECK_FALSE(listed.contains(name));
}

TEST_CASE("names of any length and with any first character are told apart") {
    const std::string at_bound(63, 'q');
    const FieldNames listed = names({at_bound, at_bound + "q", "_a", "0", "~x*"});

    CHECK(listed.contains(at_bound));
    CHECK(listed.contains(at_bound + "Q"));
    CHECK_FALSE(listed.contains(at_bound + "qq"));
    CHECK_FALSE(listed.contains(std::string(62, 'q')));
    CHECK(listed.contains("-a"));
    CHECK(listed.contains("0"));
    CHECK_FALSE(listed.contains("P")); // as 0 in the table
    CHECK(listed.contains("~X-1"));
}
