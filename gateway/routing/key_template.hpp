// From a request to a limiter key.
#pragma once

#include "base/hash.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::routing {

// What of a request a key may be made of.
struct KeyFacts {
    // Of the client's address in network order, 4 or 16 bytes (an IPv4-mapped IPv6 address is its 4
    // bytes), or of nothing where there is none (a Unix socket): all such share a counter. Hashed
    // once a connection, not once a request.
    Hash128 client_ip;
};

// `client_ip` today; more sources in time.
class KeyTemplate {
  public:
    enum class Source : std::uint8_t { none, client_ip };

    KeyTemplate() = default;
    explicit KeyTemplate(Source source) : source_{source} {}

    [[nodiscard]] bool empty() const noexcept { return source_ == Source::none; }
    // The canonical text, part of a limit's identity: "" or "client_ip".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] Hash128 evaluate(const KeyFacts& facts) const noexcept;

  private:
    Source source_ = Source::none;
};

} // namespace stint::routing
