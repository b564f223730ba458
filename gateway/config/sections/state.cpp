// State: the file of counts that outlive the process, and on_start.
#include "config/sections/section_readers.hpp"
#include "config/values/file_values.hpp"
#include "config/values/values.hpp"

#include <array>
#include <system_error>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 2> state_keys{"file", "on_start"};
constexpr std::array<std::string_view, 2> on_start_words{"open", "closed"};
constexpr std::string_view a_file = "the path of a file such as /var/lib/stint/state.db";

// Reads the path of the state file. A missing file is created; any other file in its place would be
// moved aside at the start.
void read_file(const Value& value, const LoadState& loading, State& state) {
    const auto path = value.as(a_file, parse_file_path);
    if (!path)
        return;
    const std::filesystem::path file = loading.folder / *path;
    std::error_code none;
    if (std::filesystem::is_directory(file, none))
        return value.wrong(in_quotes(file.string()) + " is a folder; expected the path of a file");
    if (file.lexically_normal() == loading.file.lexically_normal() ||
        std::filesystem::equivalent(file, loading.file, none))
        return value.wrong(in_quotes(file.string()) + " is this configuration");
    state.file = file.string();
}

} // namespace

void read_state(const Value& value, LoadState& loading) {
    State& state = loading.config.state.emplace();
    if (value.is_scalar())
        return read_file(value, loading, state);
    const auto section =
        Section::open(value, state_keys, "the path of a file, or a map such as {file: state.db}");
    if (!section)
        return;
    const auto file = section->find("file");
    const auto on_start = section->find("on_start");
    if (!file && !on_start)
        value.wrong("is empty; expected file, on_start or both");
    if (file)
        read_file(*file, loading, state);
    if (on_start)
        if (const auto word = on_start->as("open or closed", [](std::string_view text) {
                return parse_word(text, on_start_words);
            }))
            state.closed_on_start = *word == "closed";
}

} // namespace stint::config
