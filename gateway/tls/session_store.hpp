// Sessions with servers, to be resumed. Internal to tls/.
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
    static constexpr std::size_t most_sessions = 16; // of a name

    struct Remembered {
        std::deque<SessionPtr> sessions; // the newest last
    };

    // Where sessions with that server are kept, for as long as the store lives; nullptr where there
    // is no room for another name.
    [[nodiscard]] Remembered* of(const std::string& server_name);

    // The newest one, or nullptr. One of TLS 1.3 is given once (RFC 8446 appendix C.4).
    [[nodiscard]] SessionPtr take(Remembered& from);
    void put(Remembered& to, SessionPtr session);

  private:
    std::mutex mutex_;
    std::map<std::string, Remembered> names_;
};

} // namespace stint::tls
