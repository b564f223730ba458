#include "config/load.hpp"

#include "config/fields/tables.hpp"
#include "config/sections/section_readers.hpp"
#include "config/values/text_check.hpp"
#include "config/yaml/variables.hpp"
#include "config/yaml/yaml_tree.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace stint::config {

namespace {

ConfigErrors one_mistake(const std::filesystem::path& file, std::string message) {
    return {{file.string(), 1, 1, std::move(message)}};
}

// Returns one error: the file cannot be read, with the text of errno.
ConfigErrors cannot_read(const std::filesystem::path& file) {
    return one_mistake(file, "cannot be read: " + std::generic_category().message(errno));
}

} // namespace

Result<std::string, ConfigErrors> read_text(std::FILE& in, const std::filesystem::path& file) {
    std::string text;
    std::array<char, 64 * 1024> block;
    errno = 0;
    while (text.size() <= largest_file) {
        const std::size_t read = std::fread(block.data(), 1, block.size(), &in);
        text.append(block.data(), read);
        if (read < block.size())
            break;
    }
    if (std::ferror(&in) != 0)
        return cannot_read(file);
    return text;
}

Result<std::string, ConfigErrors> read_text(const std::filesystem::path& file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in{
        std::fopen(file.c_str(), "rb"), &std::fclose};
    return in ? read_text(*in, file) : cannot_read(file);
}

Result<Config, ConfigErrors>
load_file(const std::filesystem::path& file, const Environment& environment) {
    const auto text = read_text(file);
    return text ? load_text(*text, file, environment) : text.error();
}

Result<Config, ConfigErrors> load_text(
    std::string_view yaml, const std::filesystem::path& file, const Environment& environment) {
    return result_of(attempt_to_load(yaml, file, environment));
}

Result<Config, ConfigErrors> result_of(Attempt attempt) {
    if (!attempt.errors.empty())
        return std::move(attempt.errors);
    return std::move(attempt.config);
}

Attempt attempt_to_load(
    std::string_view yaml, const std::filesystem::path& file, const Environment& environment) {
    if (yaml.size() > largest_file)
        return {{}, one_mistake(file, "the file is larger than 16 MiB")};
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
    return {std::move(loading.config), std::move(report).take()};
}

} // namespace stint::config
