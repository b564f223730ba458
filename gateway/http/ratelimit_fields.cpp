#include "http/ratelimit_fields.hpp"

#include "http/ascii.hpp"
#include "http/structured_list.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace stint::http {

namespace {

using std::chrono::seconds;

constexpr std::uint64_t most = 999'999'999'999'999; // an Integer has at most 15 digits
constexpr std::string_view rename_prefix = "stint-";
constexpr unsigned most_renames = 4;

std::uint64_t whole_seconds(Duration duration) noexcept {
    const auto count = std::chrono::ceil<seconds>(duration).count();
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

std::uint64_t until_more(const PolicyState& policy, const Now& now) noexcept {
    return whole_seconds(policy.more_at - now.steady);
}

bool is_draft_field(const Field& field) noexcept {
    return field.id == FieldId::other && (ascii::equals_folded(field.name, "ratelimit") ||
                                          ascii::equals_folded(field.name, "ratelimit-policy"));
}

bool is_legacy_field(const Field& field) noexcept {
    if (field.id != FieldId::other)
        return false;
    constexpr std::array<std::string_view, 3> ends{"limit", "remaining", "reset"};
    std::string_view name = field.name;
    if (name.size() > 2 && ascii::equals_folded(name.substr(0, 2), "x-"))
        name.remove_prefix(2);
    constexpr std::string_view begin = "ratelimit-";
    return name.size() > begin.size() &&
           ascii::equals_folded(name.substr(0, begin.size()), begin) &&
           std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
               return ascii::equals_folded(name.substr(begin.size()), end);
           });
}

bool well_formed(const Field& field) noexcept {
    StringList list{field.value};
    while (list.next()) {
    }
    return !list.malformed();
}

// True if the upstream has a policy of the name that is `name` with `renames` times the prefix
// "stint-".
bool is_taken(std::span<const Field> theirs, unsigned renames, std::string_view name) noexcept {
    const auto equals = [&](std::string_view other) {
        for (unsigned i = 0; i < renames; ++i) {
            if (!other.starts_with(rename_prefix))
                return false;
            other.remove_prefix(rename_prefix.size());
        }
        return other == name;
    };
    for (const Field& field : theirs) {
        if (!is_draft_field(field))
            continue;
        StringList list{field.value};
        while (const auto member = list.next())
            if (equals(member->name))
                return true;
    }
    return false;
}

void write_name(HeadBuffer& out, unsigned renames, std::string_view name) {
    out << "\"";
    for (unsigned i = 0; i < renames; ++i)
        out << rename_prefix;
    // Uses find_if() because find_first_of() calls memchr() for every character.
    const auto is_special = [](char c) { return c == '"' || c == '\\'; };
    for (auto special = name.begin();
         (special = std::find_if(name.begin(), name.end(), is_special)) != name.end();) {
        const auto before = static_cast<std::size_t>(special - name.begin());
        out.add(name.substr(0, before), "\\", name.substr(before, 1));
        name.remove_prefix(before + 1);
    }
    out.add(name, "\"");
}

void write_partition(HeadBuffer& out, const PolicyState& policy) {
    if (!policy.keyed)
        return;
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::array<char, 12> text; // 8 bytes: ten digits of 6 bits, one of 4 bits and a pad
    for (std::size_t i = 0; i < 10; ++i)
        text[i] = digits[policy.partition >> (58 - 6 * i) & 0x3f];
    text[10] = digits[policy.partition << 2 & 0x3f];
    text[11] = '=';
    out.add(";pk=:", std::string_view{text.data(), text.size()}, ":");
}

void write_policy(HeadBuffer& out, const PolicyState& policy) {
    out << ";q=" << std::min(policy.quota, most);
    if (policy.is_cap())
        out << ";qu=\"concurrent-requests\"";
    else
        out << ";w=" << std::max<std::uint64_t>(whole_seconds(policy.window), 1);
}

void write_state(HeadBuffer& out, const PolicyState& policy, const Now& now) {
    out << ";r=" << std::min(policy.remaining, most);
    if (!policy.is_cap())
        out << ";t=" << until_more(policy, now);
}

// Writes one field with a member for each policy shown. The names are the same in both fields.
template <class Write>
void write_list(
    HeadBuffer& out,
    std::string_view field,
    const PolicyFields& ours,
    std::span<const Field> theirs,
    Write write) {
    bool first = true;
    for (const PolicyState& policy : ours.policies) {
        if (!policy.draft)
            continue;
        unsigned renames = 0;
        while (renames <= most_renames && is_taken(theirs, renames, policy.name))
            ++renames;
        if (renames > most_renames)
            continue; // skip a policy if the upstream uses all of its names
        if (first)
            out.add(field, ": ");
        else
            out << ", ";
        first = false;
        write_name(out, renames, policy.name);
        write(policy);
        write_partition(out, policy);
    }
    if (!first)
        out << "\r\n";
}

const PolicyState* tightest(const PolicyFields& fields) noexcept {
    const PolicyState* found = nullptr;
    for (const PolicyState& policy : fields.policies) {
        if (!policy.legacy || policy.is_cap())
            continue;
        if (found == nullptr || policy.remaining < found->remaining ||
            (policy.remaining == found->remaining && policy.more_at > found->more_at))
            found = &policy;
    }
    return found;
}

void write_legacy(HeadBuffer& out, const PolicyState& policy, const PolicyFields& fields) {
    const std::string_view prefix = fields.legacy.prefix == LegacyStyle::Prefix::x_ratelimit
                                        ? std::string_view{"X-RateLimit-"}
                                        : std::string_view{"RateLimit-"};
    const Duration left = std::max(policy.more_at - fields.now.steady, Duration::zero());
    const std::uint64_t reset = fields.legacy.reset == LegacyStyle::Reset::delta
                                    ? whole_seconds(left)
                                    : whole_seconds(fields.now.wall.time_since_epoch() + left);
    out << prefix << "Limit: " << policy.quota << "\r\n"
        << prefix << "Remaining: " << policy.remaining << "\r\n"
        << prefix << "Reset: " << reset << "\r\n";
}

} // namespace

void write_policy_fields(HeadBuffer& out, const PolicyFields& ours, std::span<const Field> theirs) {
    const auto alone = [](const Field& field) {
        return is_draft_field(field) && !well_formed(field);
    };
    if (std::none_of(theirs.begin(), theirs.end(), alone)) {
        write_list(out, "RateLimit-Policy", ours, theirs, [&](const PolicyState& policy) {
            write_policy(out, policy);
        });
        write_list(out, "RateLimit", ours, theirs, [&](const PolicyState& policy) {
            write_state(out, policy, ours.now);
        });
    }
    const PolicyState* const told = tightest(ours);
    if (told != nullptr && std::none_of(theirs.begin(), theirs.end(), is_legacy_field))
        write_legacy(out, *told, ours);
}

} // namespace stint::http
