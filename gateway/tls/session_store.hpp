// TLS sessions with upstream servers, kept for resumption. Internal to tls/.
#pragma once

#include "tls/openssl.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace stint::tls {

// The newest few of each server's name. Any thread.
class SessionStore {
  public:
    static constexpr std::size_t most_names = 1024;
    static constexpr std::size_t most_sessions = 16; // per name

    struct Remembered {
        std::deque<SessionPtr> sessions; // the newest last
    };

    // Returns the sessions with that server, good for as long as the store lives; nullptr if there
    // is no room for another name.
    [[nodiscard]] Remembered* of(const std::string& server_name);

    // Returns the newest session, or nullptr. One of TLS 1.3 is given once (RFC 8446 appendix C.4).
    [[nodiscard]] SessionPtr take(Remembered& from);
    void put(Remembered& to, SessionPtr session);

  private:
    std::mutex mutex_;
    std::map<std::string, Remembered> names_;
};

} // namespace stint::tls
