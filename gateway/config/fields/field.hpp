// Describes a key of the configuration as data: name, type, bounds and default. Each section has a
// table of such rows (tables.hpp). The loader, GET /config and docs/configuration-reference.md all
// use these tables.
#pragma once

#include "config/fields/shown.hpp"
#include "config/schema/schema.hpp"
#include "config/sections/load_state.hpp"
#include "config/yaml/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::config {

// The type of a key's value.
struct FieldType {
    enum class Kind : std::uint8_t {
        boolean,
        number,   // a whole number
        size,     // a number of bytes
        duration, // `low` and `high` are in milliseconds
        word,     // one of `words`
        text,
        map,  // a map with its own table of keys
        other // any other value; described by `name`
    };
    Kind kind = Kind::other;
    bool is_list = false;         // the value is a list of such values
    std::uint64_t low = 0;        // minimum of a number, size or duration
    std::uint64_t high = 0;       // maximum; 0 means no bounds
    std::uint64_t most_items = 0; // maximum of items of a list or map; 0 means no bound
    std::string_view zero{};      // a word that may stand for 0: off, auto, 0s
    std::span<const std::string_view> words{};
    std::string_view name{}; // description of the type, for text, map and other
};

// When a changed value in the file takes effect.
enum class Reload : std::uint8_t {
    applies,         // with a reload
    new_connections, // with a reload, for new connections
    restart          // with a restart
};

// A row of a table, without the functions that read and show the value.
struct Field {
    std::string_view key;
    std::string_view about{};    // description in one line
    std::string_view expected{}; // completes "found a list; expected ..."
    bool required = false;
    // The default in words, if the schema's struct does not state it: for maps, and if another
    // setting is the default.
    std::string_view otherwise{};
    Reload reload = Reload::applies;
    FieldType type{};
};

// A row of the table of a section, whose values are stored in the struct S.
template <class S>
struct FieldOf : Field {
    // Reads the value into `section`, or reports an error.
    using Read = void (*)(const Field& field, const Value& value, S& section, LoadState& loading);
    // Adds the key with the value in force to `members`, the section's map in GET /config, in a
    // form that `read` accepts. Adds nothing if the section's other values exclude the key, or if
    // the section inherits the value from a key elsewhere in `config`.
    using Show =
        void (*)(const Field& field, const S& section, const Config& config, Shown::Map& members);

    Read read = nullptr; // nullptr if the section's reader reads the key itself
    Show show = nullptr; // nullptr if not shown, or shown by another row
    // Shows the default value for the reference page, independent of other keys; nullptr means
    // `show` is used.
    Show plain = nullptr;
    bool later = false; // read by an explicit read_field(), after keys that it depends on
};

template <class S>
using Table = std::span<const FieldOf<S>>;

template <class S>
[[nodiscard]] std::vector<std::string_view> keys_of(Table<S> table) {
    std::vector<std::string_view> keys;
    for (const FieldOf<S>& field : table)
        keys.push_back(field.key);
    return keys;
}

// Opens a map with the keys of the table; see Section::open().
template <class S>
[[nodiscard]] std::optional<Section>
open_section(const Value& value, Table<S> table, std::string_view expected) {
    return Section::open(value, keys_of(table), expected);
}

template <class S>
void read_row(const Section& section, const FieldOf<S>& field, S& place, LoadState& loading) {
    const auto value =
        field.required ? section.require(field.key, field.expected) : section.find(field.key);
    if (value)
        field.read(field, *value, place, loading);
}

// Reads all keys whose rows have a reader, except those marked `later`. Reports required keys that
// are missing.
template <class S>
void read_fields(const Section& section, Table<S> table, S& place, LoadState& loading) {
    for (const FieldOf<S>& field : table)
        if (field.read != nullptr && !field.later)
            read_row(section, field, place, loading);
}

// Reads one key. Requires that its row has a `read` function.
template <class S>
void read_field(
    const Section& section, Table<S> table, std::string_view key, S& place, LoadState& loading) {
    for (const FieldOf<S>& field : table)
        if (field.key == key)
            return read_row(section, field, place, loading);
}

template <class S>
void show_fields(Table<S> table, const S& section, const Config& config, Shown::Map& members) {
    for (const FieldOf<S>& field : table)
        if (field.show != nullptr)
            field.show(field, section, config, members);
}

// rows_before() returns the rows before the row of `key`, rows_from() that row and all after it. If
// no row has the key, they return all rows and none.
template <class S>
[[nodiscard]] Table<S> rows_before(Table<S> table, std::string_view key) {
    std::size_t count = 0;
    while (count < table.size() && table[count].key != key)
        ++count;
    return table.first(count);
}
template <class S>
[[nodiscard]] Table<S> rows_from(Table<S> table, std::string_view key) {
    return table.subspan(rows_before(table, key).size());
}

template <class S>
[[nodiscard]] Shown::Map shown(Table<S> table, const S& section, const Config& config) {
    Shown::Map members;
    show_fields(table, section, config, members);
    return members;
}

} // namespace stint::config
