#include "redis/sentinel_watch.hpp"

#include "net/clock.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::string_view switch_channel = "+switch-master";

std::string sentinel_command(std::string_view name, std::string_view argument = {}) {
    std::string text;
    CommandWriter writer{text, argument.empty() ? 2U : 3U};
    writer.add("SENTINEL");
    writer.add(name);
    if (!argument.empty())
        writer.add(argument);
    return text;
}

// Reads the address in a reply to GET-MASTER-ADDR-BY-NAME. Returns why there is none; empty: there
// is one.
std::string read_address(const Value& reply, HostPort& address) {
    if (reply.is_error())
        return printable(reply.text);
    if (reply.is_nil())
        return "it knows no such master";
    const auto port = reply.items.size() == 2 ? parse_length(reply.items[1].text) : std::nullopt;
    if (!port || *port == 0 || *port > 65'535 || !reply.items[0].is_text())
        return "its answer is no address";
    address = {printable(reply.items[0].text), static_cast<std::uint16_t>(*port)};
    return {};
}

std::optional<std::uint64_t> count_in(const Value& reply, std::string_view name) {
    const Value* const count = reply.member(name);
    return count != nullptr && count->is_text() ? parse_length(count->text) : std::nullopt;
}

} // namespace

// One Sentinel. Replies come in order: a question's are complete with the last one.
class SentinelWatch::Sentinel final : private Link::User {
  public:
    Sentinel(const net::Executor& executor, SentinelWatch& watch, std::size_t number)
        : watch_{watch}, number_{number}, server_{watch.settings_.servers[number]} {
        const std::string& name = watch.settings_.server_name;
        Link::User& user = *this;
        link_ = std::make_unique<Link>(
            executor, watch.settings_.link,
            std::make_unique<HostAddresses>(
                executor, server_.host, server_.port, name.empty() ? server_.host : name),
            user);
    }

    // Asks, unless a question has no answer yet. anew: then once more after that.
    void ask(bool anew) {
        again_ = again_ || (asked_ && anew);
        if (link_->ready() == nullptr || std::exchange(asked_, true))
            return;
        const std::string& master = watch_.settings_.master;
        question_at_ = net::read_steady_clock();
        const bool sent =
            send(
                sentinel_command("MYID"),
                [this](const Value& reply) {
                    word_.id = reply.is_text() ? reply.text : std::string{};
                    error_ = reply.is_error() ? printable(reply.text) : std::string{};
                }) &&
            send(
                sentinel_command("MASTER", master),
                [this](const Value& reply) {
                    const auto others = count_in(reply, "num-other-sentinels");
                    const auto down_after = count_in(reply, "down-after-milliseconds").value_or(0);
                    word_.down_after =
                        std::chrono::milliseconds{std::min<std::uint64_t>(down_after, 86'400'000)};
                    if (!others && error_.empty())
                        error_ = reply.is_error() ? printable(reply.text) : "it tells no Sentinels";
                    word_.others = others.value_or(0);
                }) &&
            send(sentinel_command("GET-MASTER-ADDR-BY-NAME", master), [this](const Value& reply) {
                std::string why = read_address(reply, word_.primary);
                if (error_.empty())
                    error_ = std::move(why);
                finish();
            });
        if (!sent)
            link_->give_up("a question cannot be sent");
    }

    [[nodiscard]] SentinelState state() const {
        const SentinelWord* const word = watch_.votes_.word(number_);
        return {
            .address = server_.text(),
            .up = std::as_const(*link_).ready() != nullptr,
            .names = word != nullptr ? word->primary.text() : std::string{},
            .down_after = word != nullptr ? word->down_after : Duration{},
            .error = told_error_};
    }

  private:
    [[nodiscard]] bool send(const std::string& command, std::function<void(const Value&)> take) {
        return link_->ready()
            ->send(
                command,
                [take = std::move(take)](const Reply& reply) {
                    if (reply)
                        take(*reply); // else the connection ends, and says so
                })
            .has_value();
    }

    void finish() {
        asked_ = false;
        told_error_ = error_;
        link_->note_success();
        if (error_.empty())
            watch_.votes_.note(number_, word_, question_at_);
        if (std::exchange(again_, false))
            ask(false);
        watch_.answered();
    }

    void on_link_ready(Link&) override {
        ask(false);
        Connection& connection = *link_->ready();
        // A connection of RESP2 would take no further questions: the next one in turn will do.
        if (connection.protocol() == Protocol::resp3)
            (void)connection.subscribe(switch_channel, [](const Reply&) {});
    }
    void on_link_message(const Value&) override { watch_.ask_all(true); }
    void on_link_down(Link&, const Failure& why) override {
        asked_ = again_ = false;
        told_error_ = why.text;
        watch_.answered();
    }

    SentinelWatch& watch_;
    const std::size_t number_;
    const HostPort server_;
    bool asked_ = false;
    bool again_ = false;
    SteadyTime question_at_{};
    SentinelWord word_; // the answer to the question on its way, so far
    std::string error_;
    std::string told_error_;
    std::unique_ptr<Link> link_; // goes first
};

SentinelWatch::SentinelWatch(
    const net::Executor& executor, SentinelWatchSettings settings, Watcher& watcher)
    : settings_{std::move(settings)}, watcher_{watcher}, votes_{settings_.servers.size()},
      timer_{executor} {
    for (std::size_t i = 0; i < settings_.servers.size(); ++i)
        sentinels_.push_back(std::make_unique<Sentinel>(executor, *this, i));
    ask_again_later();
}

SentinelWatch::~SentinelWatch() = default;

void SentinelWatch::ask_all(bool anew) {
    for (const auto& each : sentinels_)
        each->ask(anew);
}

void SentinelWatch::ask_again_later() {
    timer_.expires_after(settings_.interval);
    timer_.async_wait([watch = std::weak_ptr{self_}](const ErrorCode& error) {
        const auto live = watch.lock();
        if (error || !live)
            return;
        (*live)->ask_all(false);
        (*live)->ask_again_later();
    });
}

void SentinelWatch::answered() {
    if (const auto waiting = std::exchange(waiting_, nullptr))
        waiting();
    watcher_.on_sentinels();
}

std::optional<HostPort> SentinelWatch::primary(SteadyTime now) const {
    return votes_.primary(now - settings_.validity);
}

bool SentinelWatch::confirms(SteadyTime now) const {
    return followed_ && primary(now) == followed_;
}

std::string SentinelWatch::failure(SteadyTime now) const {
    const SteadyTime since = now - settings_.validity;
    std::string text = "no majority of " + std::to_string(votes_.count(since)) +
                       " Sentinels names a primary of " + settings_.master + " (" +
                       std::to_string(votes_.answered(since)) + " have answered)";
    std::string_view between = ": ";
    for (const auto& each : sentinels_)
        if (const SentinelState state = each->state(); !state.error.empty()) {
            text.append(between).append(state.address).append(": ").append(state.error);
            between = "; ";
        }
    return text;
}

std::vector<SentinelState> SentinelWatch::state() const {
    std::vector<SentinelState> states;
    for (const auto& each : sentinels_)
        states.push_back(each->state());
    return states;
}

} // namespace stint::redis
