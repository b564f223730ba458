// Whatever the bytes: a configuration or mistakes at places, never a crash.
#include "config/yaml/diagnostics.hpp"
#include "config_support.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 24> fragments{
    "[",  "]", "{", "}",  ": ", "- ", "? ",    "&a ",   "*a ", "!!int ", "|",    ">",
    "\"", "'", "#", "\n", "\t", "%",  "---\n", "...\n", ",",   "<<: ",   "\xC3", "\r"};

class Garbler {
  public:
    explicit Garbler(std::uint32_t seed) : random_(seed) {}

    std::string garbled(std::string text) {
        for (std::size_t edits = 1 + below(6); edits > 0; --edits)
            edit(text);
        return text;
    }

  private:
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

    void edit(std::string& text) {
        const std::size_t at = below(text.size());
        switch (below(4)) {
        case 0:
            text.erase(at, 1 + below(20));
            break;
        case 1:
            text.insert(at, fragments[below(fragments.size())]);
            break;
        case 2:
            if (!text.empty())
                text[at] = static_cast<char>(below(256));
            break;
        default:
            text.insert(at, text.substr(below(text.size()), 1 + below(40)));
            break;
        }
    }

    std::mt19937 random_;
};

bool has_places(const ConfigErrors& mistakes) {
    return std::all_of(mistakes.begin(), mistakes.end(), [](const ConfigError& mistake) {
        return mistake.line >= 1 && mistake.column >= 1 && !mistake.message.empty();
    });
}

} // namespace

TEST_CASE("a garbled configuration is one still, or has mistakes at places") {
    constexpr std::uint32_t seed = 20'260'401;
    CAPTURE(seed);
    Garbler garbler{seed};
    int right = 0;
    int wrong = 0;
    for (int round = 0; round < 5'000; ++round) {
        const std::string text = garbler.garbled(std::string{shop});
        const auto result = load_text(text, "garbled.yaml");
        if (result) {
            ++right;
            continue;
        }
        ++wrong;
        CAPTURE(round);
        CAPTURE(text);
        REQUIRE_FALSE(result.error().empty());
        REQUIRE(has_places(result.error()));
    }

    CHECK(right > 0);
    CHECK(wrong > 0);
}

TEST_CASE("every beginning of a configuration is one, or has mistakes at places") {
    for (std::size_t length = 0; length < shop.size(); ++length) {
        const auto result = load_text(shop.substr(0, length), "cut.yaml");
        CAPTURE(length);
        REQUIRE((result.has_value() || (!result.error().empty() && has_places(result.error()))));
    }
}

TEST_CASE("nesting has a bound") {
    const std::string lists = std::string(10'000, '[') + std::string(10'000, ']');
    std::string maps;
    std::string blocks;
    for (int i = 0; i < 20'000; ++i) {
        maps += "{a: ";
        blocks += "- ";
    }

    check_mistakes(lists, {"1:33: more than 32 levels deep"});
    check_mistakes(maps, {"1:125: more than 32 levels deep"});
    check_mistakes(blocks, {"1:65: more than 32 levels deep"});
}

TEST_CASE("a file has a bound") {
    check_mistakes(std::string((16U << 20U) + 1, '#'), {"1:1: the file is larger than 16 MiB"});
}

TEST_CASE("the search for what unknown names may mean has a bound for all of them together") {
    constexpr std::size_t names = 1000;
    constexpr std::size_t searched = Diagnostics::most_comparisons / names;
    std::string limits = "limits:\n";
    std::string routes = "routes:\n";
    for (std::size_t i = 0; i < names; ++i) {
        const std::string number = std::to_string(i);
        limits += "  per_client_" + number + ": {requests: 1, per: 1s}\n";
        routes += "  - {name: r" + number + ", match: {path: /" + number +
                  "}, upstream: shop, limits: [per_clinet_" + number + "]}\n";
    }

    const auto result = load_text(std::string{base} + limits + routes, "test.yaml");

    REQUIRE_FALSE(result.has_value());
    const ConfigErrors mistakes = result.error();
    REQUIRE(mistakes.size() == names);
    for (std::size_t i = 0; i < names; ++i)
        CHECK(mistakes[i].message.ends_with('?') == (i < searched));
    CHECK(mistakes.back().message.ends_with("\"per_clinet_999\" is not a limit"));
}

TEST_CASE("a comma where a document should begin does not keep the loader for ever") {
    check_mistakes(", a", {"1:1: a second document", "1:1: found nothing; expected a map"});
}

} // namespace stint::config
