// A client of HTTP/2 that has closed its sending side, and reads on (half_close: allow).
#pragma once

#include "net/handler_memory.hpp"
#include "server/http2_drain.hpp"
#include "server/http2_stream.hpp"
#include "server/stream_pool.hpp"

#include <vector>

namespace stint::server {

class Http1Connection;
class Http2Connection;

// Used on the thread of its connection, and destroyed before it.
class Http2HalfClose {
  public:
    // Both arguments outlive this object.
    Http2HalfClose(Http2Connection& http2, Http1Connection& host) noexcept
        : http2_{http2}, host_{host} {}

    // Begins if the client has closed its sending side, and may do so: the requests that are whole
    // are answered, the others reset, and the connection ends with its last response. Nothing is
    // read any more, so a reset is watched for. Returns true if it has begun within this call.
    [[nodiscard]] bool
    begin(Http2Session& session, Http2Drain& drain, const StreamPool<Http2Stream>::List& streams);
    [[nodiscard]] bool begun() const noexcept { return begun_; }
    // True while an operation is pending whose handler refers to this object.
    [[nodiscard]] bool pending() const noexcept { return pending_; }

  private:
    Http2Connection& http2_;
    Http1Connection& host_;
    net::HandlerMemory memory_;
    bool begun_ = false;
    bool pending_ = false;
};

} // namespace stint::server
