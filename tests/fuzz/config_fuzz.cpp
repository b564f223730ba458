// The configuration: one that can be run on and fed back, or mistakes with places; never an
// exception.
//
// Input: the text of a configuration.
#include "admin/config_json.hpp"
#include "admin/message.hpp"
#include "config/load.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "oracle.hpp"
#include "runtime/compile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::fuzz {

namespace {

constexpr std::size_t longest = 64 * 1024;

void check_mistake(const config::ConfigError& mistake, std::size_t lines, std::string_view yaml) {
    require(mistake.file == "fuzz.yaml", "a mistake names its file", yaml);
    require(mistake.line >= 1 && mistake.line <= lines, "a mistake is on a line of the file", yaml);
    require(
        mistake.column >= 1 && mistake.column <= yaml.size() + 1, "a mistake has a column", yaml);
    require(!mistake.message.empty(), "a mistake is explained", yaml);
    require(
        std::none_of(
            mistake.message.begin(), mistake.message.end(),
            [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
        "an explanation is one line that any terminal can show", mistake.message);
}

std::string printed(const config::Config& config) {
    return admin::json_response(admin::config_json(config)).body;
}

void check_fed_back(const config::Config& config) {
    const std::string document = printed(config);
    if (document.find("(hidden)") != std::string::npos) // a value that is not printed
        return;
    const auto again = config::load_text(document, "fuzz.yaml");
    require(again.has_value(), "what is printed is a configuration", document);
    require(printed(*again) == document, "what is fed back is printed alike", document);
}

void check(std::string_view yaml) {
    const auto loaded = config::load_text(yaml, "fuzz.yaml");
    if (loaded) {
        check_fed_back(*loaded);
        limits::Registry registry;
        observe::MetricSlots slots;
        (void)runtime::compile(*loaded, registry, slots, 1);
        return;
    }
    const auto lines = static_cast<std::size_t>(1 + std::count(yaml.begin(), yaml.end(), '\n'));
    require(!loaded.error().empty(), "what is refused has a mistake", yaml);
    for (const config::ConfigError& mistake : loaded.error())
        check_mistake(mistake, lines, yaml);
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size <= stint::fuzz::longest)
        stint::fuzz::check({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
