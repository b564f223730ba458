#include "http/upstream_rate_limit.hpp"

#include "http/ascii.hpp"
#include "http/retry_after.hpp"
#include "http/structured_list.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace stint::http {

namespace {

using std::chrono::seconds;

constexpr std::int64_t first_epoch = 1'000'000'000;
constexpr std::int64_t first_epoch_ms = 1'000'000'000'000;

// Returns the number at the front of a text, rounded up; ignores the rest (", 100;w=60").
std::optional<std::int64_t> leading_number(std::string_view text) noexcept {
    text = ascii::trim(text);
    std::size_t digits = 0;
    std::int64_t value = 0;
    for (; digits < text.size() && ascii::digit.contains(text[digits]); ++digits) {
        if (digits == 15)
            return std::nullopt;
        value = value * 10 + (text[digits] - '0');
    }
    if (digits == 0)
        return std::nullopt;
    text.remove_prefix(digits);
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        bool more = false;
        for (; !text.empty() && ascii::digit.contains(text.front()); text.remove_prefix(1))
            more = more || text.front() != '0';
        value += more ? 1 : 0;
    }
    text = ascii::trim(text);
    const bool ends = text.empty() || text.front() == ',' || text.front() == ';';
    return ends ? std::optional{value} : std::nullopt;
}

// Keeps the tightest of the limits that take() gets: the longest reset per remaining request.
class Tightest {
  public:
    explicit Tightest(std::span<const Field> fields, WallTime now)
        : now_{http_reference_time(fields, now)} {}

    void take(std::optional<std::int64_t> remaining, std::optional<std::int64_t> reset) noexcept {
        if (!remaining || !reset || *remaining < 0 || *reset < 0)
            return;
        const UpstreamRateLimit told{static_cast<std::uint64_t>(*remaining), until(*reset)};
        if (!found_ || pause(told) > pause(*found_))
            found_ = told;
    }
    [[nodiscard]] const std::optional<UpstreamRateLimit>& found() const noexcept { return found_; }

  private:
    [[nodiscard]] Duration until(std::int64_t reset) const noexcept {
        if (reset < first_epoch)
            return std::min<Duration>(
                seconds{std::min<std::int64_t>(reset, 40'000'000)}, longest_announced);
        const std::int64_t ms =
            reset < first_epoch_ms ? reset * 1000 : std::min(reset, 7 * first_epoch_ms);
        const WallTime at{std::chrono::milliseconds{std::min(ms, 7 * first_epoch_ms)}};
        return std::clamp<Duration>(at - now_, Duration::zero(), longest_announced);
    }
    static double pause(const UpstreamRateLimit& told) noexcept {
        return static_cast<double>(told.reset.count()) /
               (static_cast<double>(told.remaining) + 0.001);
    }

    WallTime now_;
    std::optional<UpstreamRateLimit> found_;
};

// True if the policy of this name counts requests, or states no other unit.
bool counts_requests(std::span<const Field> fields, std::string_view name) noexcept {
    for (const Field& field : fields) {
        if (!ascii::equals_folded(field.name, "ratelimit-policy"))
            continue;
        StringList list{field.value};
        while (const auto policy = list.next())
            if (policy->name == name)
                return policy->string("qu").value_or("requests") == "requests";
    }
    return true;
}

// Returns the value of `key` in a list of key=value elements between ',' and ';'.
std::optional<std::int64_t> find_pair(std::string_view list, std::string_view key) noexcept {
    while (!list.empty()) {
        const std::size_t end = list.find_first_of(",;");
        const std::string_view each = ascii::trim(list.substr(0, end));
        if (each.size() > key.size() && each[key.size()] == '=' &&
            ascii::equals_folded(each.substr(0, key.size()), key))
            return leading_number(each.substr(key.size() + 1));
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
    return std::nullopt;
}

void read_ratelimit(
    std::string_view value, std::span<const Field> fields, Tightest& tightest) noexcept {
    StringList check{value};
    while (check.next()) {
    }
    if (!check.malformed()) {
        StringList list{value};
        while (const auto member = list.next())
            if (counts_requests(fields, member->name))
                tightest.take(member->integer("r"), member->integer("t"));
        return;
    }
    tightest.take(find_pair(value, "remaining"), find_pair(value, "reset"));
    ascii::for_each_element(value, [&](std::string_view each) {
        tightest.take(find_pair(each, "r"), find_pair(each, "t"));
    });
}

std::optional<std::int64_t>
find_number(std::span<const Field> fields, std::string_view lower_case_name) noexcept {
    for (const Field& field : fields)
        if (ascii::equals_folded(field.name, lower_case_name))
            return leading_number(field.value);
    return std::nullopt;
}

} // namespace

std::optional<UpstreamRateLimit>
parse_upstream_rate_limit(std::span<const Field> fields, WallTime now) noexcept {
    struct Pair {
        std::string_view remaining;
        std::string_view reset;
    };
    constexpr std::array<Pair, 3> pairs{
        {{"ratelimit-remaining", "ratelimit-reset"},
         {"x-ratelimit-remaining", "x-ratelimit-reset"},
         {"x-rate-limit-remaining", "x-rate-limit-reset"}}};
    Tightest tightest{fields, now};
    for (const Field& field : fields)
        if (ascii::equals_folded(field.name, "ratelimit"))
            read_ratelimit(field.value, fields, tightest);
    for (const Pair& pair : pairs)
        tightest.take(find_number(fields, pair.remaining), find_number(fields, pair.reset));
    return tightest.found();
}

} // namespace stint::http
