// Parsing of requests: lengths, counts and spellings.
#include "config/sections/section_readers.hpp"
#include "config/values/values.hpp"

#include <array>

namespace stint::config {

namespace {

constexpr std::size_t smallest_head = 1024; // and target
constexpr std::size_t largest_head = 64 * 1024;
constexpr std::uint64_t fewest_fields = 8;
constexpr std::uint64_t most_fields = 1000;
constexpr std::size_t largest_body = std::size_t{1} << 40U;
constexpr std::array<std::string_view, 2> encoded_slashes{"keep", "refuse"};
constexpr std::array<std::string_view, 2> absolute_forms{"refuse", "route"};

Parsed<std::size_t> parse_length(std::string_view text) {
    return parse_size(text, smallest_head, largest_head);
}

Parsed<std::size_t> parse_body_size(std::string_view text) {
    if (text == "0")
        return std::size_t{0};
    const auto size = parse_size(text, 1, largest_body);
    if (!size)
        return ParseError{size.error().why + ", 0 for none"};
    return *size;
}

Parsed<std::optional<std::uint64_t>> parse_max_body(std::string_view text) {
    return parse_or_off(text, std::optional<std::uint64_t>{}, parse_body_size);
}

} // namespace

void read_max_body(const Section& section, std::optional<std::uint64_t>& most) {
    if (const auto value = section.find("max_body"))
        value->into(most, "a size such as 10MiB, or off", parse_max_body);
}

void read_requests(const Section& top, Config& config) {
    if (const auto head = top.find("max_head"))
        head->into(config.max_head, "a size such as 16KiB", parse_length);
    if (const auto target = top.find("max_target"))
        target->into(config.max_target, "a size such as 8KiB", parse_length);
    if (const auto fields = top.find("max_fields"))
        fields->into(config.max_fields, "a number of fields", [](std::string_view text) {
            return parse_count(text, fewest_fields, most_fields);
        });
    read_max_body(top, config.max_body);
    if (const auto merge = top.find("merge_slashes"))
        merge->into(config.paths.merge_slashes, "true or false", parse_bool);
    if (const auto slashes = top.find("encoded_slashes")) {
        const auto word = slashes->as("keep or refuse", [](std::string_view text) {
            return parse_word(text, encoded_slashes);
        });
        config.paths.refuse_encoded_slashes = word && *word == "refuse";
    }
    if (const auto absolute = top.find("absolute_form")) {
        const auto word = absolute->as("refuse or route", [](std::string_view text) {
            return parse_word(text, absolute_forms);
        });
        config.routes_absolute_form = word && *word == "route";
    }
    if (const auto forwarded = top.find("forwarded"))
        forwarded->into(config.forwarded, "true or false", parse_bool);
}

} // namespace stint::config
