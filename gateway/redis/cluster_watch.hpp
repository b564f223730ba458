// Asks the primaries of a Redis Cluster all the time which of them owns a hash slot.
#pragma once

#include "redis/cluster_votes.hpp"
#include "redis/primary_watch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

struct ClusterWatchSettings {
    std::uint16_t slot = 0;
    std::vector<HostPort> nodes = {}; // some of the Cluster's, through which the others are found
    std::string server_name = {};     // that their certificates must be for; empty: the host
    LinkSettings link = {};           // to each of them
    PrimaryWatch::Times times = {};
};

// Keeps a connection to each node that is listed, and to each primary that they name.
class ClusterWatch final : public PrimaryWatch {
  public:
    static constexpr std::size_t most_nodes = 256; // further primaries are not asked

    // Begins to ask. watcher: outlives this object.
    ClusterWatch(const net::Executor& executor, ClusterWatchSettings settings, Watcher& watcher);
    ~ClusterWatch() override;

    [[nodiscard]] std::optional<HostPort> primary(SteadyTime now) const override;
    [[nodiscard]] std::string failure(SteadyTime now) const override;
    [[nodiscard]] std::string_view voters() const noexcept override {
        return "the Cluster's nodes";
    }
    [[nodiscard]] std::vector<VoterState> state() const override;
    void ask_all(bool anew) override;

  private:
    class Node;

    void add(const HostPort& server);
    void note(const HostPort& node, const ClusterWord& word, SteadyTime asked);
    void meet_primaries();

    const net::Executor executor_;
    const ClusterWatchSettings settings_;
    ClusterVotes votes_;
    bool meets_ = false; // meet_primaries() is to be called
    std::vector<std::unique_ptr<Node>> nodes_;
    // Gone with this object: a function that is posted may still be pending on the event loop.
    const std::shared_ptr<ClusterWatch*> self_ = std::make_shared<ClusterWatch*>(this);
};

} // namespace stint::redis
