#include "tls/session_store.hpp"

#include <utility>

namespace stint::tls {

SessionStore::Remembered* SessionStore::of(const std::string& server_name) {
    const std::scoped_lock lock{mutex_};
    const auto found = names_.find(server_name);
    if (found != names_.end())
        return &found->second;
    return names_.size() < most_names ? &names_[server_name] : nullptr;
}

SessionPtr SessionStore::take(Remembered& from) {
    const std::scoped_lock lock{mutex_};
    if (from.sessions.empty())
        return nullptr;
    SSL_SESSION* newest = from.sessions.back().get();
    if (SSL_SESSION_get_protocol_version(newest) < TLS1_3_VERSION) {
        SSL_SESSION_up_ref(newest);
        return SessionPtr{newest};
    }
    SessionPtr taken = std::move(from.sessions.back());
    from.sessions.pop_back();
    return taken;
}

void SessionStore::put(Remembered& to, SessionPtr session) {
    SessionPtr dropped; // freed after the lock is released
    const std::scoped_lock lock{mutex_};
    to.sessions.push_back(std::move(session));
    if (to.sessions.size() > most_sessions) {
        dropped = std::move(to.sessions.front());
        to.sessions.pop_front();
    }
}

} // namespace stint::tls
