#include "redis/cluster_votes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace stint::redis {
namespace {

// The votes for an owner that are a majority of `primaries`.
std::size_t majority_of(std::size_t primaries) {
    return primaries <= 2 ? 1 : primaries / 2 + 1;
}

} // namespace

void ClusterVotes::note(const HostPort& node, ClusterWord word, SteadyTime asked) {
    words_[node.text()] = {std::move(word), asked};
    known_ = {};
}

const ClusterWord* ClusterVotes::word(const HostPort& node) const {
    const auto found = words_.find(node.text());
    return found != words_.end() ? &found->second.word : nullptr;
}

void ClusterVotes::forget(const HostPort& node) {
    words_.erase(node.text());
    known_ = {};
}

std::vector<const ClusterWord*> ClusterVotes::words_since(SteadyTime since) const {
    std::map<std::string_view, const Noted*> latest;
    for (const auto& [address, noted] : words_) {
        if (noted.asked < since || noted.word.primary(noted.word.id) == nullptr)
            continue;
        const Noted*& known = latest[noted.word.id];
        if (known == nullptr || known->asked < noted.asked)
            known = &noted;
    }
    std::vector<const ClusterWord*> words;
    for (const auto& [id, noted] : latest)
        words.push_back(&noted->word);
    return words;
}

std::optional<ClusterVotes::Owner> ClusterVotes::count_votes(SteadyTime since) const {
    struct Candidate {
        std::size_t votes = 0;
        const ClusterWord* word = nullptr; // one that names it
    };
    const std::vector<const ClusterWord*> words = words_since(since);
    std::map<std::pair<std::string_view, std::string_view>, Candidate> candidates;
    for (const ClusterWord* each : words) {
        Candidate& named = candidates[{each->view, each->owner}];
        named.word = each;
        named.votes += each->id != each->owner || each->primaries.size() == 1 ? 1 : 0;
    }
    const ClusterWord* elected = nullptr;
    for (const auto& [names, each] : candidates)
        if (each.votes >= majority_of(each.word->primaries.size())) {
            if (elected != nullptr && elected->owner != each.word->owner)
                return std::nullopt;
            elected = each.word;
        }
    if (elected == nullptr)
        return std::nullopt;
    const auto own = std::ranges::find(words, elected->owner, &ClusterWord::id);
    return Owner{
        *elected->primary(elected->owner),
        own != words.end() ? (*own)->asks : std::optional<HostPort>{}};
}

std::optional<ClusterVotes::Owner> ClusterVotes::owner(SteadyTime since) const {
    if (since < known_.since || since > known_.until) {
        known_ = {count_votes(since), since, SteadyTime::max()};
        for (const auto& [address, noted] : words_)
            if (noted.asked >= since)
                known_.until = std::min(known_.until, noted.asked);
    }
    return known_.owner;
}

std::size_t ClusterVotes::count(SteadyTime since) const {
    std::size_t most = 0;
    for (const ClusterWord* each : words_since(since))
        most = std::max(most, each->primaries.size());
    return most;
}

std::size_t ClusterVotes::answered(SteadyTime since) const {
    return words_since(since).size();
}

std::vector<HostPort> ClusterVotes::primaries(SteadyTime since) const {
    std::map<std::string, const HostPort*> all;
    for (const auto& [address, noted] : words_)
        if (noted.asked >= since)
            for (const ClusterNode& each : noted.word.primaries)
                all.try_emplace(each.address.text(), &each.address);
    std::vector<HostPort> addresses;
    for (const auto& [text, address] : all)
        addresses.push_back(*address);
    return addresses;
}

} // namespace stint::redis
