// Reads `state`: the file of counts and leases that are kept over a restart, and on_start.
#include "config/fields/shared_rows.hpp"
#include "config/values/file_values.hpp"
#include "config/values/values.hpp"

#include <array>
#include <system_error>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 2> on_start_words{"open", "closed"};
constexpr std::string_view a_file = "the path of a file such as /var/lib/stint/state.db";

// Reads the path of the state file. The file need not exist. A folder or this configuration file is
// an error, because the start would move it aside as a broken state file.
void read_file(const Field&, const Value& value, State& state, LoadState& loading) {
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

using StateRow = Fields<State>;
constexpr std::array state_table{
    StateRow::other(
        {.key = "file",
         .about = "The file that keeps counts over a restart. Only one Stint can use it at a time.",
         .expected = a_file,
         .otherwise = "none",
         .reload = Reload::restart},
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        &read_file,
        [](const Field& field, const State& state, const Config&, Shown::Map& members) {
            if (!state.file.empty())
                add(members, field.key, absolute_file(state.file));
        }),
    StateRow::word<&State::closed_on_start>(
        {.key = "on_start",
         .about =
             "After a start with incomplete counts: open continues with the known ones, closed "
             "refuses until no client can have had more than its limit allows.",
         .expected = "open or closed",
         .reload = Reload::restart},
        on_start_words),
};

} // namespace

Table<State> state_fields() {
    return state_table;
}

void read_state(const Value& value, LoadState& loading) {
    State& state = loading.config.state.emplace();
    if (value.is_scalar())
        return read_file(state_table.front(), value, state, loading);
    const auto section = open_section(
        value, state_fields(), "the path of a file, or a map such as {file: state.db}");
    if (!section)
        return;
    if (!section->find("file") && !section->find("on_start"))
        value.wrong("is empty; expected file, on_start or both");
    read_fields(*section, state_fields(), state, loading);
}

void show_state(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    if (config.state)
        add(members, field.key, shown(state_fields(), *config.state, config));
}

} // namespace stint::config
