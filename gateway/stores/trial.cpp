#include "stores/trial.hpp"

#include "base/hash.hpp"
#include "net/clock.hpp"
#include "redis/resp/command.hpp"
#include "shared/session.hpp"
#include "shared/store_script.hpp"
#include "stores/connecting.hpp"
#include "stores/counter_names.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

namespace stint::stores {
namespace {

using namespace std::chrono_literals;

constexpr int most_attempts = 4; // a name has several addresses, of which one may do
constexpr Duration longest_trial = 8s;
constexpr std::size_t pings = 101;

using Words = std::vector<std::string_view>;

class Trial final : private redis::Link::User, private redis::PrimaryWatch::Watcher {
  public:
    explicit Trial(const StoreSettings& settings)
        : settings_{settings}, key_{
                                   CounterNames{settings.prefix, {}}.registry() +
                                   ":check:" + digits_of(KeyHasher{}("check"))} {}

    TrialFacts run() {
        redis::PrimaryWatch::Watcher& watcher = *this;
        watch_ = watch_primary(context_.get_executor(), settings_, watcher);
        redis::Link::User& user = *this;
        link_ = std::make_unique<redis::Link>(
            context_.get_executor(), server_link(settings_),
            server_addresses(context_.get_executor(), settings_, watch_.get()), user);
        context_.run_for(longest_trial);
        if (!ended_ && facts_.failure.empty())
            facts_.failure =
                "it has not answered within " + std::to_string(longest_trial / 1s) + " s";
        if (watch_)
            facts_.voters = watch_->state();
        return std::move(facts_);
    }

  private:
    void on_voters() override { stop_if_over(); }
    void on_link_message(const redis::Value&) override {}
    void on_link_down(redis::Link&, const redis::Failure& why) override {
        facts_.failure = why.text;
        if (++attempts_ >= most_attempts)
            context_.stop();
    }

    void on_link_ready(redis::Link&) override {
        facts_ = {.address = link_->ready()->address().text};
        round_trips_.clear();
        ask({"INFO"}, "INFO", [this](const auto& reply) { read_info(facts_.server, reply); });
        Words config{"CONFIG", "GET"};
        config.insert(config.end(), std::begin(redis::config_facts), std::end(redis::config_facts));
        ask(config, settings_.assume_noeviction ? "" : "CONFIG GET",
            [this](const auto& reply) { read_config(facts_.server, reply); });
        for (const Words& words :
             {Words{"TIME"}, Words{"HSET", key_, "a", "b"}, Words{"HGETALL", key_},
              Words{"HGET", key_, "a"}, Words{"HLEN", key_}, Words{"HDEL", key_, "a"},
              Words{"PEXPIRE", key_, "1000"}, Words{"PUBLISH", key_, "check"}})
            ask(words, words.front());
        ask({"SCRIPT", "LOAD", shared::store_script()}, "SCRIPT LOAD",
            [this](const redis::Value& sha1) { run_script(sha1.text); });
    }

    // Notes a refusal under `name`, if it is not empty.
    void
    ask(const Words& words,
        std::string_view name,
        std::function<void(const redis::Value&)> then = {}) {
        std::string command;
        redis::write_command(command, words);
        const auto taken = [this, name = std::string{name},
                            then = std::move(then)](const redis::Reply& reply) {
            if (!reply)
                return; // the connection has ended, and says so
            if (reply->is_error() && !name.empty())
                facts_.refused.push_back(name + ": " + redis::printable(reply->text));
            if (then)
                then(*reply);
        };
        if (!link_->ready()->send(command, taken))
            link_->give_up("too much at once");
    }

    // As the first call of a gateway, but in a registry of the trial's own.
    void run_script(const std::string& sha1) {
        shared::Session session{
            {.gateway = "check", .session = "check", .time_to_live = settings_.time_to_live}};
        const std::vector<std::string> arguments = session.beat(true, net::read_clocks());
        Words words{"EVALSHA", sha1, "1", key_};
        words.insert(words.end(), arguments.begin(), arguments.end());
        ask(words, "EVALSHA");
        ask({"PEXPIRE", key_, "1"}, "", [this](const redis::Value&) { ping(); });
    }

    // One after the other, so that each time is a whole round trip.
    void ping() {
        if (round_trips_.size() == pings)
            return subscribe();
        const SteadyTime begun = net::read_steady_clock();
        ask({"PING"}, "", [this, begun](const redis::Value&) {
            round_trips_.push_back(net::read_steady_clock() - begun);
            ping();
        });
    }

    // The last command: a connection of RESP2 takes no others after it.
    void subscribe() {
        std::ranges::nth_element(round_trips_, round_trips_.begin() + pings / 2);
        facts_.round_trip = round_trips_[pings / 2];
        const auto taken = [this](const redis::Reply& reply) {
            if (reply && reply->is_error())
                facts_.refused.push_back("SUBSCRIBE: " + redis::printable(reply->text));
            ended_ = reply.has_value();
            stop_if_over();
        };
        if (!link_->ready()->subscribe(key_, taken))
            link_->give_up("too much at once");
    }

    // Each voter is asked, too: two of three make a majority.
    void stop_if_over() {
        const auto states = watch_ ? watch_->state() : std::vector<redis::VoterState>{};
        if (ended_ && std::ranges::none_of(states, [](const redis::VoterState& each) {
                return each.names.empty() && each.error.empty();
            }))
            context_.stop();
    }

    const StoreSettings& settings_;
    const std::string key_; // and the channel
    net::asio::io_context context_{1};
    TrialFacts facts_;
    std::vector<Duration> round_trips_;
    int attempts_ = 0;
    bool ended_ = false;
    std::unique_ptr<redis::PrimaryWatch> watch_;
    std::unique_ptr<redis::Link> link_; // goes first
};

} // namespace

TrialFacts try_store(const StoreSettings& settings) {
    return Trial{settings}.run();
}

} // namespace stint::stores
