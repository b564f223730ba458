#include "admin/change_body.hpp"

#include "config/values/values.hpp"
#include "http/query.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::admin {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_change = std::chrono::milliseconds{366 * 24h};
constexpr std::size_t longest_text = 1024;
constexpr std::size_t longest_attribution = 200;

std::string listed(std::initializer_list<std::string_view> members) {
    std::string text;
    for (const std::string_view each : members)
        text.append(in_quotes(each)).append(", ");
    return text + "\"who\", \"why\"";
}

// Returns true if the text has no control characters. Attributions are logged, and must not begin
// another line of the log.
bool is_one_line(std::string_view text) {
    return std::ranges::none_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

bool is_attribution(std::string_view text) {
    return text.size() <= longest_attribution && is_one_line(text);
}

std::string attribution_fault(std::string_view name) {
    return in_quotes(name) + " must be a text of one line and at most " +
           std::to_string(longest_attribution) + " bytes";
}

} // namespace

ChangeBody::ChangeBody(const Json& json, std::initializer_list<std::string_view> members)
    : json_{json} {
    for (const auto& [name, value] : json.items())
        if (name != "who" && name != "why" && std::ranges::find(members, name) == members.end())
            wrong(in_quotes(name) + " is unknown: there are " + listed(members));
}

const Json* ChangeBody::find(std::string_view name) const {
    const auto found = json_.find(name);
    return found != json_.end() ? &*found : nullptr;
}

std::uint64_t
ChangeBody::count(std::string_view name, std::uint64_t most, std::string_view for_zero) {
    const Json* const found = find(name);
    if (found == nullptr)
        return 0;
    const std::uint64_t count = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    if (count >= 1 && count <= most)
        return count;
    std::string fault =
        in_quotes(name) + " must be a whole number from 1 to " + std::to_string(most);
    if (found->is_number_unsigned() && count == 0)
        fault += for_zero;
    wrong(std::move(fault));
    return 0;
}

std::string ChangeBody::text(std::string_view name) {
    const Json* const found = find(name);
    if (found == nullptr)
        return {};
    if (found->is_string())
        if (auto text = found->get<std::string>(); !text.empty() && text.size() <= longest_text)
            return text;
    wrong(in_quotes(name) + " must be a text of 1 to " + std::to_string(longest_text) + " bytes");
    return {};
}

std::optional<bool> ChangeBody::flag(std::string_view name) {
    const Json* const found = find(name);
    if (found == nullptr)
        return std::nullopt;
    if (found->is_boolean())
        return found->get<bool>();
    wrong(in_quotes(name) + " must be true or false");
    return std::nullopt;
}

std::optional<SteadyTime> ChangeBody::end(const Now& now) {
    constexpr std::string_view in_ms = "expires_in_ms";
    if (find("for") != nullptr && find(in_ms) != nullptr)
        wrong("there are both \"for\" and \"expires_in_ms\"; one of them says when it ends");
    if (const auto ms = count(in_ms, static_cast<std::uint64_t>(longest_change.count())))
        return now.steady + std::chrono::milliseconds{ms};
    const Json* const found = find("for");
    if (found == nullptr)
        return std::nullopt;
    const auto length = found->is_string()
                            ? config::parse_duration(found->get<std::string>())
                            : config::Parsed<std::chrono::nanoseconds>{config::ParseError{}};
    if (length)
        return now.steady + *length;
    wrong("\"for\" must be a duration from \"1ms\" to \"366d\", such as \"1h\"");
    return std::nullopt;
}

std::string ChangeBody::short_text(std::string_view name) {
    const Json* const found = find(name);
    if (found == nullptr)
        return {};
    if (found->is_string())
        if (auto text = found->get<std::string>(); is_attribution(text))
            return text;
    wrong(attribution_fault(name));
    return {};
}

runtime::Attribution ChangeBody::attribution() {
    return {short_text("who"), short_text("why")};
}

void ChangeBody::wrong(std::string why) {
    if (!wrong_)
        wrong_ = std::move(why);
}

std::optional<Response> ChangeBody::error() const {
    if (!wrong_)
        return std::nullopt;
    return problem(400, *wrong_ + ".");
}

std::optional<Response> fault_in_query(
    std::string_view query, std::span<const std::string_view> known, std::string_view expected) {
    std::vector<std::string_view> seen;
    for (std::string_view rest = query; !rest.empty();) {
        const std::string_view each = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(each.size() + 1, rest.size()));
        const std::string_view name = each.substr(0, each.find('='));
        if (std::ranges::find(known, name) == known.end())
            return problem(
                400, "The query has \"" + std::string{name} + "\"; expected " +
                         std::string{expected} + ".");
        if (std::ranges::find(seen, name) != seen.end())
            return problem(400, "The query has \"" + std::string{name} + "\" twice.");
        seen.push_back(name);
    }
    return std::nullopt;
}

Result<runtime::Attribution, Response>
attribution_in(std::string_view query, std::string_view known) {
    std::vector<std::string_view> names{"who", "why"};
    std::string expected = "who, why";
    if (!known.empty()) {
        names.push_back(known);
        expected += ", or " + std::string{known};
    }
    if (auto fault = fault_in_query(query, names, expected))
        return std::move(*fault);
    const auto who = http::percent_decoded(http::parameter(query, "who").value_or(""));
    const auto why = http::percent_decoded(http::parameter(query, "why").value_or(""));
    if (!who || !why)
        return problem(400, "The query has a malformed percent-escape.");
    if (!is_attribution(*who))
        return problem(400, attribution_fault("who") + ".");
    if (!is_attribution(*why))
        return problem(400, attribution_fault("why") + ".");
    return runtime::Attribution{*who, *why};
}

} // namespace stint::admin
