#include "http/websocket.hpp"

#include "base/base64.hpp"

#include <array>
#include <openssl/evp.h>

namespace stint::http {

std::string websocket_key(std::span<const std::uint8_t, 16> nonce) {
    return to_base64({reinterpret_cast<const char*>(nonce.data()), nonce.size()});
}

std::string websocket_accept(std::string_view key) {
    constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const std::string text = std::string{key}.append(guid);
    std::array<char, 20> digest{};
    std::size_t size = 0;
    if (::EVP_Q_digest(
            nullptr, "SHA1", nullptr, text.data(), text.size(),
            reinterpret_cast<unsigned char*>(digest.data()), &size) != 1)
        return {};
    return to_base64({digest.data(), digest.size()});
}

} // namespace stint::http
