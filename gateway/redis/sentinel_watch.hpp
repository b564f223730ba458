// Asks several Sentinels all the time which server is the primary.
#pragma once

#include "redis/primary_watch.hpp"
#include "redis/sentinel_votes.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

struct SentinelWatchSettings {
    std::string master = {};            // "mymaster"
    std::vector<HostPort> servers = {}; // the Sentinels; not empty
    std::string server_name = {};       // that their certificates must be for; empty: the host
    LinkSettings link = {};             // to each of them
    PrimaryWatch::Times times = {};
};

// Keeps one connection to each Sentinel, asks on it, and listens to what the Sentinel publishes:
// after a switch all are asked at once.
class SentinelWatch final : public PrimaryWatch {
  public:
    // Begins to ask. watcher: outlives this object.
    SentinelWatch(const net::Executor& executor, SentinelWatchSettings settings, Watcher& watcher);
    ~SentinelWatch() override;

    [[nodiscard]] std::optional<HostPort> primary(SteadyTime now) const override;
    [[nodiscard]] std::string failure(SteadyTime now) const override;
    [[nodiscard]] std::string_view voters() const noexcept override { return "the Sentinels"; }
    [[nodiscard]] std::vector<VoterState> state() const override;
    void ask_all(bool anew) override;

  private:
    class Sentinel;

    const SentinelWatchSettings settings_;
    SentinelVotes votes_;
    std::vector<std::unique_ptr<Sentinel>> sentinels_; // go first
};

} // namespace stint::redis
