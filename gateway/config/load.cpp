#include "config/load.hpp"

#include "config/fields/tables.hpp"
#include "config/sections/section_readers.hpp"
#include "config/values/text_check.hpp"
#include "config/yaml/variables.hpp"
#include "config/yaml/yaml_tree.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace stint::config {

namespace {

constexpr std::size_t largest_file = 1U << 20U;

ConfigErrors one_mistake(const std::filesystem::path& file, std::string message) {
    return {{file.string(), 1, 1, std::move(message)}};
}

// Reports errno.
ConfigErrors cannot_read(const std::filesystem::path& file) {
    return one_mistake(file, "cannot be read: " + std::generic_category().message(errno));
}

} // namespace

Result<Config, ConfigErrors>
load_file(const std::filesystem::path& file, const Environment& environment) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in{
        std::fopen(file.c_str(), "rb"), &std::fclose};
    return in ? load_stream(*in, file, environment) : cannot_read(file);
}

Result<Config, ConfigErrors>
load_stream(std::FILE& in, const std::filesystem::path& file, const Environment& environment) {
    std::string text;
    text.resize(largest_file + 1);
    errno = 0;
    text.resize(std::fread(text.data(), 1, text.size(), &in));
    return std::ferror(&in) == 0 ? load_text(text, file, environment) : cannot_read(file);
}

Result<Config, ConfigErrors> load_text(
    std::string_view yaml, const std::filesystem::path& file, const Environment& environment) {
    if (yaml.size() > largest_file)
        return one_mistake(file, "the file is larger than 1 MiB");
    Diagnostics report{file.string()};
    const std::string text = checked_text(yaml, report);
    LoadState loading;
    loading.file = file;
    loading.folder = file.parent_path();
    if (auto root = parse_yaml(text, report)) {
        fill_in_variables(*root, environment, report);
        const auto top =
            open_section({*root, "", report}, config_fields(), "a map with listeners and routes");
        if (top)
            read_top(*top, loading);
    }
    if (!report.empty())
        return std::move(report).take();
    return std::move(loading.config);
}

} // namespace stint::config
