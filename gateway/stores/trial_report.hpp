// The words of a trial of a store. Pure.
#pragma once

#include "base/time.hpp"
#include "redis/server_facts.hpp"
#include "redis/voter.hpp"
#include "stores/store_settings.hpp"

#include <string>
#include <vector>

namespace stint::stores {

// The facts that a trial has found.
struct TrialFacts {
    std::string address = {}; // the server's; empty: none was reached
    std::string failure = {}; // why the trial did not come to its end; empty: it did
    redis::ServerFacts server = {};
    std::vector<std::string> refused =
        {};                   // commands with the server's words: "PUBLISH: NOPERM ..."
    Duration round_trip = {}; // the median of some PINGs
    std::vector<redis::VoterState> voters = {}; // the Sentinels, or nodes of the Cluster
};

struct TrialReport {
    bool usable = false;
    std::vector<std::string> lines = {}; // the last one says what the store can promise, or why not
};

// Returns the report of a trial: a line for each fact, then the verdict.
[[nodiscard]] TrialReport trial_report(const StoreSettings& settings, const TrialFacts& facts);

} // namespace stint::stores
