// Caches TLS sessions with upstream servers for resumption. Internal to tls/.
#pragma once

#include "tls/openssl.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace stint::tls {

// Keeps the newest sessions of each server name. Threads: any.
class SessionStore {
  public:
    static constexpr std::size_t most_names = 1024;
    static constexpr std::size_t most_sessions = 16; // per name

    struct Remembered {
        std::deque<SessionPtr> sessions; // the newest last
    };

    // Returns the sessions with this server, valid during the lifetime of the store; nullptr if the
    // store does not have the name yet and has most_names already.
    [[nodiscard]] Remembered* of(const std::string& server_name);

    // Returns the newest session, or nullptr if there is none. A TLS 1.3 session is removed,
    // because it should be used only once (RFC 8446 appendix C.4).
    [[nodiscard]] SessionPtr take(Remembered& from);
    void put(Remembered& to, SessionPtr session);

  private:
    std::mutex mutex_;
    std::map<std::string, Remembered> names_;
};

} // namespace stint::tls
