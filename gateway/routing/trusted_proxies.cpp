#include "routing/trusted_proxies.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace stint::routing {

namespace {

namespace ascii = http::ascii;

// Parses "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:80".
std::optional<IpAddress> parse_node(std::string_view text) noexcept {
    std::string_view port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos)
            return std::nullopt;
        port = text.substr(end + 1);
        text = text.substr(1, end - 1);
        if (text.find(':') == std::string_view::npos)
            return std::nullopt;
    } else if (const std::size_t colon = text.find(':'); colon == text.rfind(':')) {
        port = text.substr(std::min(colon, text.size()));
        text = text.substr(0, colon);
    }
    const bool has_port = !port.empty();
    if (has_port && (port.front() != ':' || port.size() < 2 || port.size() > 6 ||
                     !ascii::digit.contains_all(port.substr(1))))
        return std::nullopt;
    return IpAddress::parse(text);
}

// Returns the value of a Forwarded element's "for" (RFC 7239 section 4); "" if there is none, or if
// there are two.
std::string_view forwarded_for(std::string_view element) noexcept {
    std::string_view node;
    while (!element.empty()) {
        const std::size_t end = std::min(element.find(';'), element.size());
        const std::string_view pair = ascii::trim(element.substr(0, end));
        element.remove_prefix(std::min(end + 1, element.size()));
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos ||
            !ascii::equals_folded(pair.substr(0, equals), "for"))
            continue;
        if (!node.empty())
            return {};
        node = pair.substr(equals + 1);
    }
    const bool quoted = node.size() >= 2 && node.front() == '"' && node.back() == '"';
    return quoted ? node.substr(1, node.size() - 2) : node;
}

// Walks over the lists of proxies, each from its right, to find the client.
class Walk {
  public:
    Walk(const IpAddress& peer, const TrustedProxies& trusted) noexcept
        : client_{peer}, trusted_{trusted}, forwarded_{trusted.header == "forwarded"} {}

    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] const IpAddress& client() const noexcept { return client_; }

    void read(std::string_view list) noexcept {
        while (!over_) {
            const std::size_t comma = list.rfind(',');
            const bool last = comma == std::string_view::npos;
            const std::string_view element = ascii::trim(last ? list : list.substr(comma + 1));
            if (!element.empty())
                step(element);
            if (last)
                return;
            list = list.substr(0, comma);
        }
    }

  private:
    void step(std::string_view element) noexcept {
        const auto node = parse_node(forwarded_ ? forwarded_for(element) : element);
        if (node)
            client_ = *node;
        over_ = !node || !trusted_.contains(*node);
    }

    IpAddress client_;
    const TrustedProxies& trusted_;
    const bool forwarded_;
    bool over_ = false;
};

} // namespace

bool TrustedProxies::contains(const IpAddress& peer) const noexcept {
    if (peer.empty())
        return unix_peers;
    return std::any_of(networks.begin(), networks.end(), [&](const Cidr& network) {
        return network.contains(peer);
    });
}

IpAddress client_behind(
    const IpAddress& peer, std::span<const Field> fields, const TrustedProxies& trusted) noexcept {
    Walk walk{peer, trusted};
    for (std::size_t i = fields.size(); i > 0 && !walk.over(); --i)
        if (ascii::equals_folded(fields[i - 1].name, trusted.header))
            walk.read(fields[i - 1].value);
    return walk.client();
}

} // namespace stint::routing
