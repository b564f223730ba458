#include "base/hash.hpp"

#include <sodium.h>

#include <cstring>
#include <stdexcept>

namespace stint {

KeyHasher::KeyHasher() {
    static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof key_);
    if (sodium_init() < 0)
        throw std::runtime_error("libsodium cannot reach the system's random source");
    randombytes_buf(key_.data(), key_.size());
}

Hash128 KeyHasher::operator()(std::string_view text) const noexcept {
    static_assert(crypto_shorthash_siphashx24_BYTES == sizeof(Hash128));
    unsigned char digest[sizeof(Hash128)];
    crypto_shorthash_siphashx24(
        digest, reinterpret_cast<const unsigned char*>(text.data()), text.size(), key_.data());
    Hash128 hash;
    std::memcpy(&hash, digest, sizeof hash);
    return hash;
}

KeyHasher::Key key_of_secret(std::string_view secret) noexcept {
    KeyHasher::Key key;
    static_assert(sizeof key >= crypto_generichash_BYTES_MIN);
    crypto_generichash(
        key.data(), key.size(), reinterpret_cast<const unsigned char*>(secret.data()),
        secret.size(), nullptr, 0);
    return key;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace stint
