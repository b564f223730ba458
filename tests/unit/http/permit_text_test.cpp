#include "http/permit_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stint;
using namespace stint::http;

namespace {

constexpr Hash128 id{0x0123456789abcdef, 0xfedcba9876543210};
constexpr std::string_view text = "p_0123456789abcdeffedcba9876543210";

std::optional<Hash128> shown(std::vector<std::string_view> values) {
    std::vector<Field> fields{{FieldId::host, "Host", "a"}};
    for (const std::string_view value : values)
        fields.push_back({FieldId::x_stint_permit, "x-stint-permit", value});
    fields.push_back({FieldId::other, "X-Y", "b"});
    return shown_permit(fields);
}

} // namespace

TEST_CASE("a permit is read as it was written") {
    CHECK(permit_text(id) == text);
    CHECK(parse_permit(text) == id);
    CHECK(parse_permit(permit_text({0, 0})) == Hash128{0, 0});
}

TEST_CASE("no other spelling is a permit") {
    const std::string right{text};
    for (std::size_t i = 0; i <= right.size(); ++i) {
        CAPTURE(i);
        if (i < right.size()) {
            CHECK_FALSE(parse_permit(right.substr(0, i)));
            for (const char other : {'g', 'A', 'F', ' ', '\0', '/', ':', '`', '\xff'}) {
                std::string wrong = right;
                wrong[i] = other;
                CHECK_FALSE(parse_permit(wrong));
            }
        }
        CHECK_FALSE(parse_permit(std::string{right}.insert(i, 1, '0')));
    }
}

TEST_CASE("a request shows one permit or none") {
    CHECK(shown({text}) == id);
    CHECK_FALSE(shown({}));
    CHECK_FALSE(shown({"p_1"}));
    CHECK_FALSE(shown({text, text}));
    CHECK_FALSE(shown({text, ""}));
    CHECK_FALSE(shown({"", text}));
}
