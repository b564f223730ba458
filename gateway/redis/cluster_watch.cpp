#include "redis/cluster_watch.hpp"

#include "net/clock.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/numbers.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::string_view silence = "cluster-node-timeout";
constexpr std::uint64_t longest_silence = 86'400'000; // ms

std::string read_id(const Value& reply, ClusterWord& word) {
    word.id = reply.is_text() ? reply.text : std::string{};
    if (reply.is_error())
        return printable(reply.text);
    return word.id.empty() ? "it does not tell its id" : std::string{};
}

// It may not be told: CONFIG may be forbidden.
std::string read_silence(const Value& reply, ClusterWord& word) {
    const Value* const value = reply.is_error() ? nullptr : reply.member(silence);
    const auto told = value != nullptr && value->is_text() ? parse_length(value->text) : 0;
    word.down_after = std::chrono::milliseconds{std::min(told.value_or(0), longest_silence)};
    return {};
}

} // namespace

class ClusterWatch::Node final : private Voter::Owner {
  public:
    Node(ClusterWatch& watch, const HostPort& server) : watch_{watch} {
        const ClusterWatchSettings& settings = watch.settings_;
        Voter::Owner& owner = *this;
        voter_ = std::make_unique<Voter>(
            watch.executor_, server, settings.server_name, settings.link,
            questions(settings.slot, server), std::string{}, owner);
    }

    [[nodiscard]] const HostPort& server() const noexcept { return voter_->server(); }
    void ask(bool anew) { voter_->ask(anew); }

    [[nodiscard]] VoterState state() const {
        VoterState state{.address = server().text(), .up = voter_->up(), .error = voter_->error()};
        if (const ClusterWord* const word = watch_.votes_.word(server())) {
            state.names = word->primary(word->owner)->address.text();
            state.down_after = word->down_after;
        }
        return state;
    }

  private:
    std::vector<Voter::Question> questions(std::uint16_t slot, const HostPort& server) {
        return {
            {command_of({"CLUSTER", "MYID"}),
             [this](const Value& reply) { return read_id(reply, word_); }},
            {command_of({"CONFIG", "GET", silence}),
             [this](const Value& reply) { return read_silence(reply, word_); }},
            {command_of({"CLUSTER", "SLOTS"}), [this, slot, server](const Value& reply) {
                 return read_slots(reply, slot, server, word_);
             }}};
    }

    void on_word(SteadyTime asked) override { watch_.note(server(), word_, asked); }
    void on_voter() override { watch_.answered(); }

    ClusterWatch& watch_;
    ClusterWord word_;             // the answer on its way, so far
    std::unique_ptr<Voter> voter_; // goes first
};

ClusterWatch::ClusterWatch(
    const net::Executor& executor, ClusterWatchSettings settings, Watcher& watcher)
    : PrimaryWatch{executor, settings.times, watcher}, executor_{executor}, settings_{std::move(
                                                                                settings)} {
    for (const HostPort& each : settings_.nodes)
        add(each);
}

ClusterWatch::~ClusterWatch() = default;

void ClusterWatch::add(const HostPort& server) {
    if (nodes_.size() < most_nodes)
        nodes_.push_back(std::make_unique<Node>(*this, server));
}

void ClusterWatch::note(const HostPort& node, const ClusterWord& word, SteadyTime asked) {
    const ClusterWord* const former = votes_.word(node);
    const bool meets = former == nullptr || former->primaries != word.primaries;
    votes_.note(node, word, asked);
    // The node that has just answered may go with it, so not before this is over.
    if (meets && !std::exchange(meets_, true))
        net::asio::post(executor_, [watch = std::weak_ptr{self_}] {
            if (const auto live = watch.lock())
                (*live)->meet_primaries();
        });
}

// Connects to primaries that are new, and leaves those that are none any more.
void ClusterWatch::meet_primaries() {
    meets_ = false;
    const auto known = votes_.primaries(valid_since(net::read_steady_clock()));
    std::erase_if(nodes_, [&](const std::unique_ptr<Node>& node) {
        const bool stays =
            std::ranges::find(known, node->server()) != known.end() ||
            std::ranges::find(settings_.nodes, node->server()) != settings_.nodes.end();
        if (!stays)
            votes_.forget(node->server());
        return !stays;
    });
    for (const HostPort& each : known)
        if (std::ranges::none_of(nodes_, [&](const auto& node) { return node->server() == each; }))
            add(each);
}

void ClusterWatch::ask_all(bool anew) {
    for (const auto& each : nodes_)
        each->ask(anew);
}

std::optional<HostPort> ClusterWatch::primary(SteadyTime now) const {
    return votes_.owner(valid_since(now));
}

std::string ClusterWatch::failure(SteadyTime now) const {
    const SteadyTime since = valid_since(now);
    return "no majority of " + std::to_string(votes_.count(since)) +
           " primaries of the Cluster names an owner of slot " + std::to_string(settings_.slot) +
           " (" + std::to_string(votes_.answered(since)) + " have answered)" + errors_of(state());
}

std::vector<VoterState> ClusterWatch::state() const {
    std::vector<VoterState> states;
    for (const auto& each : nodes_)
        states.push_back(each->state());
    return states;
}

} // namespace stint::redis
