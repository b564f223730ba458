// nginx's configurations: a draft that loads, or a fault with its place; never an exception. Every
// line that is printed can be shown on a terminal.
//
// Input: the text of a configuration. `include` finds the text once more, in small.
#include "config/load.hpp"
#include "import/import.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::fuzz {

namespace {

constexpr std::size_t longest = 16 * 1024;

bool is_shown(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

void check(std::string_view text) {
    import_nginx::Sources sources;
    sources.folder = "/etc/nginx";
    sources.read = [text](const std::string& path) {
        return path.ends_with("self")
                   ? import_nginx::FileText{.bytes = std::string{text.substr(0, 64)}}
                   : import_nginx::FileText{.fault = "No such file or directory"};
    };
    sources.find = [](const std::string& pattern) {
        return import_nginx::FoundFiles{.paths = {pattern + "self"}};
    };
    const auto made = import_nginx::import_text(text, "fuzz.conf", sources);
    if (!made) {
        require(made.error().at.line >= 1 && made.error().at.column >= 1, "a fault has a place");
        require(is_shown(made.error().message), "a fault is one line", made.error().message);
        return;
    }
    for (const import_nginx::Finding& finding : made->findings)
        require(is_shown(finding.text()), "a finding is one line", finding.text());
    const auto loaded = config::load_text(made->draft, "draft", {});
    if (loaded)
        return;
    for (const config::ConfigError& mistake : loaded.error())
        require(
            mistake.message.find(".tls.") != std::string::npos,
            "a draft has no mistake but in files that it names", mistake.text() + made->draft);
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(bytes), size};
    if (size <= stint::fuzz::longest)
        stint::fuzz::check(input);
    return 0;
}
