#include "redis/sentinel_votes.hpp"

#include <algorithm>
#include <utility>

namespace stint::redis {

void SentinelVotes::note(std::size_t sentinel, SentinelWord word, SteadyTime asked) {
    words_.at(sentinel) = {std::move(word), asked};
}

const SentinelWord* SentinelVotes::word(std::size_t sentinel) const noexcept {
    return words_[sentinel].word ? &*words_[sentinel].word : nullptr;
}

std::vector<const SentinelWord*> SentinelVotes::words_since(SteadyTime since) const {
    std::vector<const Noted*> noted;
    for (const Noted& each : words_) {
        if (!each.word || each.asked < since)
            continue;
        const auto same = std::ranges::find_if(
            noted, [&](const Noted* other) { return other->word->id == each.word->id; });
        if (same == noted.end())
            noted.push_back(&each);
        else if ((*same)->asked < each.asked)
            *same = &each;
    }
    std::vector<const SentinelWord*> words;
    for (const Noted* each : noted)
        words.push_back(&*each->word);
    return words;
}

std::size_t SentinelVotes::count(SteadyTime since) const noexcept {
    std::size_t most = words_.size();
    for (const Noted& each : words_)
        if (each.word && each.asked >= since)
            most = std::max<std::size_t>(most, each.word->others + 1);
    return most;
}

std::size_t SentinelVotes::answered(SteadyTime since) const {
    return words_since(since).size();
}

std::optional<HostPort> SentinelVotes::primary(SteadyTime since) const {
    const std::vector<const SentinelWord*> words = words_since(since);
    for (const SentinelWord* each : words) {
        const auto same = std::ranges::count_if(
            words, [&](const SentinelWord* other) { return other->primary == each->primary; });
        if (2 * static_cast<std::size_t>(same) > count(since))
            return each->primary;
    }
    return std::nullopt;
}

} // namespace stint::redis
