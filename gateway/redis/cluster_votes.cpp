#include "redis/cluster_votes.hpp"

#include "redis/failure.hpp"
#include "redis/resp/numbers.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::uint16_t slots = 16'384;

// Reads a node: address, port, id, and more.
std::optional<ClusterNode> read_node(const Value& node, const HostPort& asked) {
    if (!node.is_list() || node.items.size() < 3 || !node.items[1].is_integer() ||
        !node.items[2].is_text())
        return std::nullopt;
    const std::int64_t port = node.items[1].integer;
    const Value& host = node.items[0];
    if (port <= 0 || port > 65'535 || host.text == "?")
        return std::nullopt;
    return ClusterNode{
        .id = printable(node.items[2].text),
        // Without an address it is the one that was asked.
        .address = {
            host.is_text() && !host.text.empty() ? printable(host.text) : asked.host,
            static_cast<std::uint16_t>(port)}};
}

bool name_the_same(const ClusterWord& a, const ClusterWord& b) {
    return std::ranges::equal(a.primaries, b.primaries, {}, &ClusterNode::id, &ClusterNode::id);
}

// The votes for an owner that are a majority of `primaries`.
std::size_t majority_of(std::size_t primaries) {
    return primaries <= 2 ? 1 : primaries / 2 + 1;
}

} // namespace

std::uint16_t slot_of(std::string_view key) noexcept {
    const std::size_t open = key.find('{');
    const std::size_t close =
        open == std::string_view::npos ? std::string_view::npos : key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1)
        key = key.substr(open + 1, close - open - 1);
    boost::crc_optimal<16, 0x1021, 0, 0, false, false> crc; // XMODEM's
    crc.process_bytes(key.data(), key.size());
    return static_cast<std::uint16_t>(crc.checksum() % slots);
}

const ClusterNode* ClusterWord::primary(std::string_view of) const noexcept {
    const auto found = std::ranges::find(primaries, of, &ClusterNode::id);
    return found != primaries.end() ? &*found : nullptr;
}

std::string
read_slots(const Value& reply, std::uint16_t slot, const HostPort& asked, ClusterWord& word) {
    if (reply.is_error())
        return printable(reply.text);
    if (!reply.is_list())
        return "its answer has no slots";
    word.primaries.clear();
    word.owner.clear();
    for (const Value& range : reply.items) {
        if (!range.is_list() || range.items.size() < 3 || !range.items[0].is_integer() ||
            !range.items[1].is_integer())
            return "its answer has no slots";
        auto node = read_node(range.items[2], asked);
        if (!node)
            return "it does not tell the address of a primary";
        if (range.items[0].integer <= slot && slot <= range.items[1].integer)
            word.owner = node->id;
        if (word.primary(node->id) == nullptr)
            word.primaries.push_back(std::move(*node));
    }
    std::ranges::sort(word.primaries, {}, &ClusterNode::id);
    return word.owner.empty() ? "no node owns the slot" : std::string{};
}

void ClusterVotes::note(const HostPort& node, ClusterWord word, SteadyTime asked) {
    words_[node.text()] = {std::move(word), asked};
}

const ClusterWord* ClusterVotes::word(const HostPort& node) const {
    const auto found = words_.find(node.text());
    return found != words_.end() ? &found->second.word : nullptr;
}

void ClusterVotes::forget(const HostPort& node) {
    words_.erase(node.text());
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

std::optional<HostPort> ClusterVotes::owner(SteadyTime since) const {
    const std::vector<const ClusterWord*> words = words_since(since);
    for (const ClusterWord* each : words) {
        const std::size_t primaries = each->primaries.size();
        const auto votes = std::ranges::count_if(words, [&](const ClusterWord* other) {
            return other->owner == each->owner && name_the_same(*other, *each) &&
                   (other->id != each->owner || primaries == 1);
        });
        if (static_cast<std::size_t>(votes) >= majority_of(primaries))
            return each->primary(each->owner)->address;
    }
    return std::nullopt;
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
    std::vector<HostPort> all;
    for (const auto& [address, noted] : words_)
        for (const ClusterNode& each : noted.word.primaries)
            if (noted.asked >= since && std::ranges::find(all, each.address) == all.end())
                all.push_back(each.address);
    return all;
}

} // namespace stint::redis
