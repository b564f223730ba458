// The two GOAWAYs by which an HTTP/2 connection ends without losing a request.
#pragma once

#include "server/http2_session.hpp"

#include <cstdint>

namespace stint::server {

// Not thread-safe; does no I/O.
class Http2Drain {
  public:
    // Tells the client to connect anew. Streams that it begins before it knows are still served.
    // Does nothing if it was told before.
    void announce(Http2Session& session) noexcept {
        if (stage_ != Stage::none)
            return;
        stage_ = Stage::announced;
        session.announce_shutdown();
    }
    // Says which streams will be served; later ones are refused.
    void stop(Http2Session& session) noexcept {
        if (stage_ == Stage::stopped)
            return;
        stage_ = Stage::stopped;
        session.shut_down();
    }
    // True if the connection ends after the streams that it has.
    [[nodiscard]] bool begun() const noexcept { return stage_ != Stage::none; }
    // True between announce() and stop(): the answer to a PING is awaited.
    [[nodiscard]] bool announced() const noexcept { return stage_ == Stage::announced; }
    [[nodiscard]] bool stopped() const noexcept { return stage_ == Stage::stopped; }

  private:
    enum class Stage : std::uint8_t { none, announced, stopped };
    Stage stage_ = Stage::none;
};

} // namespace stint::server
