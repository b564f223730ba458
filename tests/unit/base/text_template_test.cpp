#include "base/text_template.hpp"

#include <doctest/doctest.h>

using namespace stint;

namespace {

struct Sink {
    Sink& operator<<(std::string_view piece) {
        text += piece;
        return *this;
    }
    std::string text;
};

std::string filled(std::string_view text) {
    PlaceholderValues values;
    values[Placeholder::client_ip] = "192.0.2.1";
    values[Placeholder::query] = "?a=b";
    values[Placeholder::route] = "shop";
    Sink sink;
    TextTemplate{text}.write(sink, values);
    return sink.text;
}

} // namespace

TEST_CASE("placeholders are filled in, other braces stay") {
    CHECK(filled("") == "");
    CHECK(filled("plain") == "plain");
    CHECK(filled("{route}") == "shop");
    CHECK(filled("a {client_ip}{route} b{?query}") == "a 192.0.2.1shop b?a=b");
    CHECK(filled("{host}|") == "|");
    CHECK(filled(R"({"a": {route}, "b": {{}})") == R"({"a": shop, "b": {{}})");
    CHECK(filled("{rou{route}te}") == "{roushopte}");
}

TEST_CASE("a template knows what it has") {
    const TextTemplate text{"/a{path}/b{?query}"};

    CHECK(text.has(Placeholder::path));
    CHECK(text.has(Placeholder::query));
    CHECK_FALSE(text.has(Placeholder::host));
    CHECK(text.beginning() == "/a");
    CHECK(TextTemplate{"{path}"}.beginning() == "");
    CHECK(TextTemplate{"plain"}.beginning() == "plain");
    CHECK(TextTemplate{}.empty());
    CHECK_FALSE(text.empty());
}
