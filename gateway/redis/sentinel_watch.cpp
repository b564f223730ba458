#include "redis/sentinel_watch.hpp"

#include "redis/resp/command.hpp"
#include "redis/resp/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::string_view switch_channel = "+switch-master";
constexpr std::uint64_t longest_down_after = 86'400'000; // ms

std::string read_id(const Value& reply, SentinelWord& word) {
    word.id = reply.is_text() ? reply.text : std::string{};
    return reply.is_error() ? printable(reply.text) : std::string{};
}

std::optional<std::uint64_t> count_in(const Value& reply, std::string_view name) {
    const Value* const count = reply.member(name);
    return count != nullptr && count->is_text() ? parse_length(count->text) : std::nullopt;
}

std::string read_master(const Value& reply, SentinelWord& word) {
    const auto others = count_in(reply, "num-other-sentinels");
    const auto down_after = count_in(reply, "down-after-milliseconds").value_or(0);
    word.down_after = std::chrono::milliseconds{std::min(down_after, longest_down_after)};
    word.others = others.value_or(0);
    if (others)
        return {};
    return reply.is_error() ? printable(reply.text) : "it tells no Sentinels";
}

// Reads the address in a reply to GET-MASTER-ADDR-BY-NAME.
std::string read_address(const Value& reply, SentinelWord& word) {
    if (reply.is_error())
        return printable(reply.text);
    if (reply.is_nil())
        return "it knows no such master";
    const auto port = reply.items.size() == 2 ? parse_length(reply.items[1].text) : std::nullopt;
    if (!port || *port == 0 || *port > 65'535 || !reply.items[0].is_text())
        return "its answer is no address";
    word.primary = {printable(reply.items[0].text), static_cast<std::uint16_t>(*port)};
    return {};
}

} // namespace

class SentinelWatch::Sentinel final : private Voter::Owner {
  public:
    Sentinel(const net::Executor& executor, SentinelWatch& watch, std::size_t number)
        : watch_{watch}, number_{number} {
        const SentinelWatchSettings& settings = watch.settings_;
        Voter::Owner& owner = *this;
        voter_ = std::make_unique<Voter>(
            executor, settings.servers[number], settings.server_name, settings.link,
            questions(settings.master), std::string{switch_channel}, owner);
    }

    void ask(bool anew) { voter_->ask(anew); }

    [[nodiscard]] VoterState state() const {
        const SentinelWord* const word = watch_.votes_.word(number_);
        return {
            .address = voter_->server().text(),
            .up = voter_->up(),
            .names = word != nullptr ? word->primary.text() : std::string{},
            .down_after = word != nullptr ? word->down_after : Duration{},
            .error = voter_->error()};
    }

  private:
    std::vector<Voter::Question> questions(const std::string& master) {
        return {
            {command_of({"SENTINEL", "MYID"}),
             [this](const Value& reply) { return read_id(reply, word_); }},
            {command_of({"SENTINEL", "MASTER", master}),
             [this](const Value& reply) { return read_master(reply, word_); }},
            {command_of({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master}),
             [this](const Value& reply) { return read_address(reply, word_); }}};
    }

    void on_word(SteadyTime asked) override { watch_.votes_.note(number_, word_, asked); }
    void on_voter() override { watch_.answered(); }
    void on_voter_message() override { watch_.ask_all(true); }

    SentinelWatch& watch_;
    const std::size_t number_;
    SentinelWord word_;            // the answer on its way, so far
    std::unique_ptr<Voter> voter_; // goes first
};

SentinelWatch::SentinelWatch(
    const net::Executor& executor, SentinelWatchSettings settings, Watcher& watcher)
    : PrimaryWatch{executor, settings.times, watcher}, settings_{std::move(settings)},
      votes_{settings_.servers.size()} {
    for (std::size_t i = 0; i < settings_.servers.size(); ++i)
        sentinels_.push_back(std::make_unique<Sentinel>(executor, *this, i));
}

SentinelWatch::~SentinelWatch() = default;

void SentinelWatch::ask_all(bool anew) {
    for (const auto& each : sentinels_)
        each->ask(anew);
}

std::optional<HostPort> SentinelWatch::primary(SteadyTime now) const {
    return votes_.primary(valid_since(now));
}

std::string SentinelWatch::failure(SteadyTime now) const {
    const SteadyTime since = valid_since(now);
    return "no majority of " + std::to_string(votes_.count(since)) +
           " Sentinels names a primary of " + settings_.master + " (" +
           std::to_string(votes_.answered(since)) + " have answered)" + errors_of(state());
}

std::vector<VoterState> SentinelWatch::state() const {
    std::vector<VoterState> states;
    for (const auto& each : sentinels_)
        states.push_back(each->state());
    return states;
}

} // namespace stint::redis
