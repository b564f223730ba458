#include "http/websocket.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace stint::http {
namespace {

std::string in_base64(std::span<const std::uint8_t> bytes) {
    static constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t size = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i)
            three = three << 8U | (i < size ? bytes[at + i] : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= size ? digits[three >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

// SHA-1 (RFC 3174), which the protocol names. It proves nothing here but that the upstream speaks
// WebSocket.
class Sha1 {
  public:
    static std::array<std::uint8_t, 20> of(std::string message) {
        const std::uint64_t bits = message.size() * 8;
        message += '\x80';
        message.resize((message.size() + 8 + 63) / 64 * 64 - 8);
        for (int shift = 56; shift >= 0; shift -= 8)
            message += static_cast<char>(bits >> static_cast<unsigned>(shift));
        Sha1 sum;
        for (std::size_t at = 0; at < message.size(); at += 64)
            sum.add(std::string_view{message}.substr(at, 64));
        std::array<std::uint8_t, 20> digest{};
        for (std::size_t i = 0; i < digest.size(); ++i)
            digest[i] = static_cast<std::uint8_t>(sum.state_[i / 4] >> (24 - 8 * (i % 4)));
        return digest;
    }

  private:
    void add(std::string_view block) noexcept {
        std::array<std::uint32_t, 80> words{};
        for (std::size_t i = 0; i < 64; ++i)
            words[i / 4] = words[i / 4] << 8U | static_cast<std::uint8_t>(block[i]);
        for (std::size_t i = 16; i < 80; ++i)
            words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        auto [a, b, c, d, e] = state_;
        for (std::size_t i = 0; i < 80; ++i) {
            const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999U
                                        : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1U
                                        : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU
                                                 : (b ^ c ^ d) + 0xca62c1d6U;
            const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        const std::array<std::uint32_t, 5> added{a, b, c, d, e};
        for (std::size_t i = 0; i < added.size(); ++i)
            state_[i] += added[i];
    }

    std::array<std::uint32_t, 5> state_{
        0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
};

} // namespace

std::string websocket_key(std::span<const std::uint8_t, 16> nonce) {
    return in_base64(nonce);
}

std::string websocket_accept(std::string_view key) {
    constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    return in_base64(Sha1::of(std::string{key}.append(guid)));
}

} // namespace stint::http
