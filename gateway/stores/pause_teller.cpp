#include "stores/pause_teller.hpp"

#include "stores/counter_names.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t first_number = std::uint64_t{1} << 63; // ShareClient's are below
constexpr std::size_t most_at_once = 200;
constexpr Duration before_another_try = 1s;
constexpr std::string_view word = "pause ";
constexpr std::int64_t longest_left = std::int64_t{366} * 24 * 3600 * 1000; // ms

std::string_view take_until(std::string_view& rest, char end) {
    const std::size_t at = rest.find(end);
    const std::string_view part = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return part;
}

template <class Number>
std::optional<Number> number_of(std::string_view text, int base) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

std::optional<PauseTold> pause_of(std::string_view text) {
    const std::string_view name = take_until(text, ':');
    const auto left = number_of<std::int64_t>(take_until(text, ':'), 10);
    const auto status = number_of<int>(text, 10);
    if (name.size() != 32 || !left || !status || *left < 0 || *left > longest_left ||
        (*status != 429 && *status != 503))
        return std::nullopt;
    const auto high = number_of<std::uint64_t>(name.substr(0, 16), 16);
    const auto low = number_of<std::uint64_t>(name.substr(16), 16);
    if (!high || !low)
        return std::nullopt;
    return PauseTold{{*high, *low}, std::chrono::milliseconds{*left}, *status};
}

std::string text_of(const std::vector<PauseTold>& pauses) {
    std::string text;
    for (const PauseTold& each : pauses)
        text.append(text.empty() ? "" : " ")
            .append(digits_of(each.name))
            .append(":")
            .append(std::to_string(std::chrono::ceil<std::chrono::milliseconds>(each.left).count()))
            .append(":")
            .append(std::to_string(each.status));
    return text;
}

} // namespace

bool PauseTeller::owns(std::uint64_t call) noexcept {
    return call >= first_number;
}

void PauseTeller::read_again() noexcept {
    to_read_ = true;
    not_before_ = {};
}

void PauseTeller::go_on(const shared::Session& session, SteadyTime now) {
    if (epoch_ != session.epoch()) {
        epoch_ = session.epoch();
        read_again();
        pauses_.tell_again();
    }
    // A gateway's first call is a beat: only that tells the store what it needs to know of it.
    if (session.state() == shared::SessionState::unknown)
        return;
    if (calls_ || now < not_before_)
        return;
    std::vector<std::string> arguments;
    if (to_read_) {
        arguments = session.arguments("pauses", now);
    } else {
        telling_ = pauses_.take_untold(most_at_once, now);
        if (telling_.empty())
            return;
        arguments = session.arguments("pause", now);
        arguments.push_back(text_of(telling_));
    }
    calls_ = true;
    reads_ = std::exchange(to_read_, false);
    transport_.send(
        {.number = first_number + ++last_call_,
         .counter = key_,
         .arguments = std::move(arguments)});
}

bool PauseTeller::take(std::string_view message, std::string_view session, SteadyTime now) {
    if (!message.starts_with(word))
        return false;
    message.remove_prefix(word.size());
    if (take_until(message, ' ') != session)
        learn(message, now);
    return true;
}

void PauseTeller::learn(std::string_view list, SteadyTime now) {
    std::vector<PauseTold> told;
    while (!list.empty())
        if (const auto pause = pause_of(take_until(list, ' ')))
            told.push_back(*pause);
    learnt_ += pauses_.learn(told, now);
}

void PauseTeller::answered(const shared::Reply& reply, SteadyTime now) {
    if (shared::text_at(reply, 0) != "ok")
        return failed(now);
    calls_ = false;
    telling_.clear();
    if (reads_)
        learn(shared::text_at(reply, 3), now);
}

void PauseTeller::failed(SteadyTime now) noexcept {
    calls_ = false;
    to_read_ = to_read_ || reads_;
    pauses_.put_back(std::exchange(telling_, {}));
    not_before_ = now + before_another_try;
}

} // namespace stint::stores
