#include "http/media_type.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stint::http {

namespace {

struct Candidate {
    std::string_view type;
    std::string_view subtype;
    MediaType as;
    int specificity = -1; // best range so far: 0 */*, 1 type/*, 2 the type itself
    int weight = 0;       // in thousandths
};

// Returns a weight in thousandths: qvalue = "0" ["." 0*3DIGIT] / "1" ["." 0*3("0")]; -1 for any
// other text.
int thousandths(std::string_view text) noexcept {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1'))
        return -1;
    if (text.size() > 1 && text[1] != '.')
        return -1;
    int value = text[0] - '0';
    for (std::size_t i = 2; i < 5; ++i) {
        const char digit = i < text.size() ? text[i] : '0';
        if (!ascii::digit.contains(digit))
            return -1;
        value = value * 10 + (digit - '0');
    }
    return value > 1000 ? -1 : value;
}

// Returns the weight of a media range by its "q" parameter. Other parameters are ignored.
int weight_of(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        const std::size_t end = parameters.find(';');
        const std::string_view each = ascii::trim(parameters.substr(0, end));
        if (each.size() >= 2 && ascii::lower(each[0]) == 'q' && each[1] == '=')
            return thousandths(each.substr(2));
        parameters.remove_prefix(end == std::string_view::npos ? parameters.size() : end + 1);
    }
    return 1000;
}

// A media range of an Accept field. No slash or a malformed weight: the weight is -1.
struct Range {
    std::string_view type;
    std::string_view subtype;
    int weight = -1;
};

Range range_of(std::string_view element) noexcept {
    const std::size_t end = element.find(';');
    const std::string_view name = ascii::trim(element.substr(0, end));
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos)
        return {};
    return {
        name.substr(0, slash), name.substr(slash + 1),
        end == std::string_view::npos ? 1000 : weight_of(element.substr(end + 1))};
}

int specificity_of(
    std::string_view type, std::string_view subtype, const Candidate& candidate) noexcept {
    if (subtype == "*")
        return type == "*" ? 0 : ascii::equals_folded(type, candidate.type) ? 1 : -1;
    const bool same = ascii::equals_folded(type, candidate.type) &&
                      ascii::equals_folded(subtype, candidate.subtype);
    return same ? 2 : -1;
}

} // namespace

MediaType preferred_media_type(std::span<const Field> fields) noexcept {
    // Fast path for a request without Accept or with "*/*", as most programs send: every refusal
    // calls this function, and weighing cost 300 instructions.
    const auto prefers = [](const Field& field) {
        return ascii::equals_folded(field.name, "accept") && field.value != "*/*";
    };
    if (std::none_of(fields.begin(), fields.end(), prefers)) [[likely]]
        return MediaType::problem_json;
    std::array<Candidate, 4> candidates{
        {{"application", "problem+json", MediaType::problem_json},
         {"application", "json", MediaType::problem_json},
         {"text", "html", MediaType::html},
         {"text", "plain", MediaType::plain}}};
    const auto take_range = [&](std::string_view element) {
        const Range range = range_of(element);
        const int weight = range.weight;
        if (weight < 0)
            return;
        for (Candidate& candidate : candidates) {
            const int specificity = specificity_of(range.type, range.subtype, candidate);
            if (specificity < 0 || specificity < candidate.specificity)
                continue;
            candidate.weight =
                specificity == candidate.specificity ? std::max(weight, candidate.weight) : weight;
            candidate.specificity = specificity;
        }
    };
    for (const Field& field : fields)
        if (ascii::equals_folded(field.name, "accept"))
            ascii::for_each_element(field.value, take_range);
    // Takes the first type of the largest weight, so problem_json if all weights are 0.
    return std::max_element(
               candidates.begin(), candidates.end(),
               [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; })
        ->as;
}

bool names_media_type(
    std::span<const Field> fields, std::string_view type, std::string_view subtype) noexcept {
    bool named = false;
    const auto take_range = [&](std::string_view element) {
        const Range range = range_of(element);
        named = named || (range.weight > 0 && ascii::equals_folded(range.type, type) &&
                          ascii::equals_folded(range.subtype, subtype));
    };
    for (const Field& field : fields)
        if (ascii::equals_folded(field.name, "accept"))
            ascii::for_each_element(field.value, take_range);
    return named;
}

std::string_view content_type(MediaType type) noexcept {
    switch (type) {
    case MediaType::html:
        return "text/html; charset=utf-8";
    case MediaType::plain:
        return "text/plain; charset=utf-8";
    case MediaType::problem_json:
        break;
    }
    return "application/problem+json";
}

} // namespace stint::http
