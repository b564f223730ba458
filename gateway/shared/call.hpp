// Calls of the store's script, and their replies, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stint::shared {

// One call. The transport runs it with the registry as KEYS[1].
struct Call {
    std::uint64_t number = 0; // unique in its gateway
    std::string counter;      // KEYS[2]; empty: none
    std::vector<std::string> arguments;
};

// The script's reply: its elements, of which the first is a word.
using Reply = std::vector<std::variant<std::int64_t, std::string>>;

// Returns the element as a number; 0 if it is none.
[[nodiscard]] inline std::int64_t number_at(const Reply& reply, std::size_t at) noexcept {
    const auto* const number = at < reply.size() ? std::get_if<std::int64_t>(&reply[at]) : nullptr;
    return number != nullptr ? *number : 0;
}

// Returns the element as text; empty if it is none.
[[nodiscard]] inline std::string_view text_at(const Reply& reply, std::size_t at) noexcept {
    const auto* const text = at < reply.size() ? std::get_if<std::string>(&reply[at]) : nullptr;
    return text != nullptr ? std::string_view{*text} : std::string_view{};
}

// Sends calls to the store. Each is answered once, by ShareClient::answered() or failed(), not
// within send(). Calls may be lost, delayed, repeated and overtake each other.
class Transport {
  public:
    virtual void send(Call call) = 0;

  protected:
    ~Transport() = default;
};

} // namespace stint::shared
