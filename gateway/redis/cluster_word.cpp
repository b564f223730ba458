#include "redis/cluster_word.hpp"

#include "redis/failure.hpp"
#include "redis/resp/numbers.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::uint16_t slots = 16'384;

// A node without a host is the one that was asked; "?" is one that has no name.
std::optional<HostPort>
address_in(std::string_view host, std::int64_t port, const HostPort& asked) {
    if (port <= 0 || port > 65'535 || host == "?")
        return std::nullopt;
    return HostPort{host.empty() ? asked.host : printable(host), static_cast<std::uint16_t>(port)};
}

// Reads a node: address, port, id, and more.
std::optional<ClusterNode> read_node(const Value& node, const HostPort& asked) {
    if (!node.is_list() || node.items.size() < 3 || !node.items[1].is_integer() ||
        !node.items[2].is_text() || (!node.items[0].is_text() && !node.items[0].is_nil()))
        return std::nullopt;
    auto address = address_in(node.items[0].text, node.items[1].integer, asked);
    if (!address)
        return std::nullopt;
    return ClusterNode{printable(node.items[2].text), std::move(*address)};
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
    std::map<std::string, HostPort> primaries;
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
        primaries.try_emplace(std::move(node->id), std::move(node->address));
    }
    word.primaries.clear();
    word.view.clear();
    for (auto& [id, address] : primaries) {
        word.primaries.push_back({id, std::move(address)});
        word.view.append(id).push_back(' ');
    }
    return word.owner.empty() ? "no node owns the slot" : std::string{};
}

void read_asks(const Value& reply, const HostPort& asked, ClusterWord& word) {
    word.asks.reset();
    const std::string_view text = reply.is_error() ? std::string_view{reply.text} : "";
    if (!text.starts_with("ASK "))
        return;
    const std::string_view server = text.substr(text.rfind(' ') + 1);
    const std::size_t colon = server.rfind(':');
    if (colon == std::string_view::npos)
        return;
    const auto port = parse_length(server.substr(colon + 1)).value_or(0);
    word.asks = address_in(
        server.substr(0, colon), static_cast<std::int64_t>(std::min<std::size_t>(port, 65'536)),
        asked);
}

} // namespace stint::redis
