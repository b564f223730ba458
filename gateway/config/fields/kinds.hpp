// Makes the rows of a table from members of the section's struct:
// Fields<Timeouts>::duration<&Timeouts::head>({...}). The template argument is a pointer to the
// member, or inside<> with the pointers to a member and to a member of that.
#pragma once

#include "config/fields/field.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace stint::config {

// Parse a value within the bounds of `type`, or the word type.zero, which gives 0.
[[nodiscard]] Parsed<std::uint64_t> number_of_type(std::string_view text, const FieldType& type);
[[nodiscard]] Parsed<std::size_t> size_of_type(std::string_view text, const FieldType& type);
[[nodiscard]] Parsed<milliseconds> duration_of_type(std::string_view text, const FieldType& type);

inline constexpr std::string_view true_or_false = "true or false";
inline constexpr std::chrono::hours longest_duration = std::chrono::days{366};

// Reaches a member of a member of a section.
template <auto Outer, auto Inner>
inline constexpr auto inside = [](auto& section) -> auto& {
    return section.*Outer.*Inner;
};

template <class S>
struct Fields {
    using Row = FieldOf<S>;
    using Read = typename Row::Read;
    using Show = typename Row::Show;

    template <auto M>
    static constexpr Row boolean(Field field) {
        field.type.kind = FieldType::Kind::boolean;
        if (field.expected.empty())
            field.expected = true_or_false;
        return {field, &read_boolean<M>, &show_plain<M>};
    }

    // A number from low to high. zero: a word that stands for 0, if not empty.
    template <auto M>
    static constexpr Row
    number(Field field, std::uint64_t low, std::uint64_t high, std::string_view zero = {}) {
        return {
            in_bounds(field, FieldType::Kind::number, low, high, zero), &read_number<M>,
            &show_number<M>};
    }

    // A size in bytes from low to high. zero: a word that stands for 0, if not empty.
    template <auto M>
    static constexpr Row
    size(Field field, std::uint64_t low, std::uint64_t high, std::string_view zero = {}) {
        return {
            in_bounds(field, FieldType::Kind::size, low, high, zero), &read_size<M>, &show_size<M>};
    }

    // A duration in whole milliseconds. An optional member without a value is not shown.
    template <auto M>
    static constexpr Row duration(
        Field field,
        milliseconds low = milliseconds{1},
        milliseconds high = longest_duration,
        std::string_view zero = {}) {
        return {
            in_bounds(
                field, FieldType::Kind::duration, static_cast<std::uint64_t>(low.count()),
                static_cast<std::uint64_t>(high.count()), zero),
            &read_duration<M>, &show_duration<M>};
    }

    // One of the words. The member is an enum with an enumerator for each word in the same order,
    // or a bool, for which the first word means false and the second true.
    template <auto M>
    static constexpr Row word(Field field, std::span<const std::string_view> words) {
        field.type.kind = FieldType::Kind::word;
        field.type.words = words;
        return {field, &read_word<M>, &show_word<M>};
    }

    // A text that Parse accepts. An empty text is not shown.
    template <auto M, auto Parse>
    static constexpr Row text(Field field, std::string_view type) {
        field.type.kind = FieldType::Kind::text;
        field.type.name = type;
        return {field, &read_text<M, Parse>, &show_text<M>};
    }

    // A value of another type. read, show: as in FieldOf; may be nullptr.
    static constexpr Row other(Field field, FieldType type, Read read, Show show) {
        field.type = type;
        return {field, read, show};
    }

    // A map that is stored in the member M. TableOf() returns the map's own table.
    template <auto M, auto TableOf>
    static constexpr Row section(Field field, std::string_view type) {
        field.type.kind = FieldType::Kind::map;
        field.type.name = type;
        return {field, &read_section<M, TableOf>, &show_section<M, TableOf>};
    }

    // A map that is read and shown by the given functions.
    static constexpr Row map(Field field, std::string_view type, Read read, Show show) {
        field.type.kind = FieldType::Kind::map;
        field.type.name = type;
        return {field, read, show};
    }

    // Marks a row to be read only by an explicit read_field().
    static constexpr Row later(Row row) {
        row.later = true;
        return row;
    }
    // Replaces the `show` function of a row in GET /config; nullptr means that another row shows
    // the value. The reference page still shows the default with the former function (`plain`).
    static constexpr Row shown_by(Row row, Show show) {
        row.plain = row.show;
        row.show = show;
        return row;
    }

  private:
    template <auto M>
    static decltype(auto) member(S& section) {
        return std::invoke(M, section);
    }
    template <auto M>
    static decltype(auto) member(const S& section) {
        return std::invoke(M, section);
    }
    template <auto M>
    using TypeOf = std::remove_cvref_t<decltype(member<M>(std::declval<S&>()))>;

    static constexpr Field in_bounds(
        Field field,
        FieldType::Kind kind,
        std::uint64_t low,
        std::uint64_t high,
        std::string_view zero) {
        field.type.kind = kind;
        field.type.low = low;
        field.type.high = high;
        field.type.zero = zero;
        return field;
    }

    // The type of a member; for an optional the type of its value.
    template <class T>
    struct Held {
        using type = T;
    };
    template <class T>
    struct Held<std::optional<T>> {
        using type = T;
    };

    template <auto M>
    static void read_boolean(const Field& field, const Value& value, S& section, LoadState&) {
        value.into(member<M>(section), field.expected, parse_bool);
    }
    template <auto M>
    static void read_number(const Field& field, const Value& value, S& section, LoadState&) {
        using T = typename Held<TypeOf<M>>::type;
        if (const auto number = value.as(field.expected, [&](std::string_view text) {
                return number_of_type(text, field.type);
            }))
            member<M>(section) = static_cast<T>(*number);
    }
    template <auto M>
    static void read_size(const Field& field, const Value& value, S& section, LoadState&) {
        value.into(member<M>(section), field.expected, [&](std::string_view text) {
            return size_of_type(text, field.type);
        });
    }
    template <auto M>
    static void read_duration(const Field& field, const Value& value, S& section, LoadState&) {
        if (const auto length = value.as(field.expected, [&](std::string_view text) {
                return duration_of_type(text, field.type);
            }))
            member<M>(section) = *length;
    }
    template <auto M>
    static void read_word(const Field& field, const Value& value, S& section, LoadState&) {
        using T = typename Held<TypeOf<M>>::type;
        const auto words = field.type.words;
        const auto word = value.as(
            field.expected, [&](std::string_view text) { return parse_word(text, words); });
        if (word)
            member<M>(section) =
                static_cast<T>(std::find(words.begin(), words.end(), *word) - words.begin());
    }
    template <auto M, auto Parse>
    static void read_text(const Field& field, const Value& value, S& section, LoadState&) {
        if (auto text = value.as(field.expected, Parse))
            member<M>(section) = std::move(*text);
    }

    template <auto M, auto TableOf>
    static void
    read_section(const Field& field, const Value& value, S& section, LoadState& loading) {
        if (const auto map = open_section(value, TableOf(), field.expected))
            read_fields(*map, TableOf(), member<M>(section), loading);
    }

    template <auto M, auto TableOf>
    static void
    show_section(const Field& field, const S& section, const Config& config, Shown::Map& members) {
        add(members, field.key, shown(TableOf(), member<M>(section), config));
    }
    template <auto M>
    static void
    show_plain(const Field& field, const S& section, const Config&, Shown::Map& members) {
        add(members, field.key, member<M>(section));
    }
    template <auto M>
    static void
    show_number(const Field& field, const S& section, const Config&, Shown::Map& members) {
        const auto number = member<M>(section);
        const bool zero = number == 0 && !field.type.zero.empty() && field.type.zero != "0";
        add(members, field.key, zero ? Shown{field.type.zero} : Shown{number});
    }
    template <auto M>
    static void
    show_size(const Field& field, const S& section, const Config&, Shown::Map& members) {
        const std::size_t size = member<M>(section);
        const bool zero = size == 0 && !field.type.zero.empty();
        add(members, field.key, zero ? Shown{field.type.zero} : Shown{Shown::Bytes{size}});
    }
    template <auto M>
    static void
    show_duration(const Field& field, const S& section, const Config&, Shown::Map& members) {
        const auto show = [&](milliseconds length) {
            const bool zero = length.count() == 0 && !field.type.zero.empty();
            add(members, field.key, zero ? Shown{field.type.zero} : Shown{length});
        };
        const auto& length = member<M>(section);
        if constexpr (std::is_same_v<TypeOf<M>, std::optional<milliseconds>>) {
            if (length)
                show(*length);
        } else {
            show(length);
        }
    }
    template <auto M>
    static void
    show_word(const Field& field, const S& section, const Config&, Shown::Map& members) {
        const auto show = [&](auto value) {
            add(members, field.key, field.type.words[static_cast<std::size_t>(value)]);
        };
        const auto& value = member<M>(section);
        if constexpr (!std::is_same_v<typename Held<TypeOf<M>>::type, TypeOf<M>>) {
            if (value)
                show(*value);
        } else {
            show(value);
        }
    }
    template <auto M>
    static void
    show_text(const Field& field, const S& section, const Config&, Shown::Map& members) {
        const std::string& text = member<M>(section);
        if (!text.empty())
            add(members, field.key, text);
    }
};

} // namespace stint::config
