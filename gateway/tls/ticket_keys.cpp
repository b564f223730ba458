#include "tls/ticket_keys.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdexcept>
#include <type_traits>

namespace stint::tls {

TicketKeys::TicketKeys(SteadyTime now) : newest_{make_key(), now} {}

TicketKeys::~TicketKeys() {
    OPENSSL_cleanse(&newest_.key, sizeof newest_.key);
    if (former_)
        OPENSSL_cleanse(&former_->key, sizeof former_->key);
}

TicketKeys::Key TicketKeys::make_key() {
    Key key;
    const auto fill = [](auto& bytes) {
        if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
            throw std::runtime_error{"OpenSSL has no random bytes for session tickets"};
    };
    fill(key.name);
    fill(key.cipher);
    fill(key.checksum);
    return key;
}

void TicketKeys::rotate(SteadyTime now) {
    // Reads newest_ without the lock, because only this thread writes it. A new key is also made
    // without the lock, so that no handshake waits for it.
    if (now - newest_.made < key_life)
        return;
    const Key next = make_key();
    const std::scoped_lock lock{mutex_};
    former_ = newest_;
    newest_ = {next, now};
}

TicketKeys::Key TicketKeys::newest() const {
    const std::scoped_lock lock{mutex_};
    return newest_.key;
}

std::string TicketKeys::save() const {
    const std::scoped_lock lock{mutex_};
    std::string saved{reinterpret_cast<const char*>(&newest_), sizeof newest_};
    if (former_)
        saved.append(reinterpret_cast<const char*>(&*former_), sizeof *former_);
    return saved;
}

bool TicketKeys::restore(std::string_view saved) {
    static_assert(std::is_trivially_copyable_v<Aged>);
    if (saved.size() != sizeof(Aged) && saved.size() != 2 * sizeof(Aged))
        return false;
    const std::scoped_lock lock{mutex_};
    std::memcpy(&newest_, saved.data(), sizeof newest_);
    former_.reset();
    if (saved.size() > sizeof(Aged)) {
        Aged former;
        std::memcpy(&former, saved.data() + sizeof former, sizeof former);
        former_ = former;
        OPENSSL_cleanse(&former, sizeof former);
    }
    return true;
}

std::optional<TicketKeys::Found> TicketKeys::find(const unsigned char* name) const {
    const std::scoped_lock lock{mutex_};
    const auto is = [&](const Key& key) {
        return std::equal(key.name.begin(), key.name.end(), name);
    };
    if (is(newest_.key))
        return Found{newest_.key, true};
    if (former_ && is(former_->key))
        return Found{former_->key, false};
    return std::nullopt;
}

} // namespace stint::tls
