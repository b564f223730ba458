// Streams of one event loop, lent to its connections for the time of a request.
#pragma once

#include "server/client_stream.hpp"

#include <memory>
#include <vector>

namespace stint::server {

// A stream that comes back keeps its memory: a request allocates nothing after warm-up, and an idle
// connection has no stream. Not thread-safe; outlives the connections. Stream: has attach() and
// release_large().
template <class Stream>
class StreamPool {
  public:
    struct Return {
        StreamPool* pool = nullptr;
        void operator()(Stream* stream) const noexcept { pool->give_back(stream); }
    };
    using Pointer = std::unique_ptr<Stream, Return>;
    using List = std::vector<Pointer>;

    StreamPool() { idle_.reserve(keep); }

    // Lends a stream to the connection. Throws if there is no memory for a new one.
    template <class Connection>
    [[nodiscard]] Pointer take(Connection& connection, const ConnectionInfo& info) {
        if (idle_.empty()) [[unlikely]]
            idle_.push_back(std::make_unique<Stream>());
        Pointer stream{idle_.back().release(), Return{this}};
        idle_.pop_back();
        stream->attach(connection, info);
        return stream;
    }

  private:
    void give_back(Stream* stream) noexcept {
        if (idle_.size() == keep) [[unlikely]] {
            delete stream;
            return;
        }
        stream->release_large();
        idle_.emplace_back(stream); // within the reserved capacity
    }

    static constexpr std::size_t keep = 256;
    std::vector<std::unique_ptr<Stream>> idle_;
};

} // namespace stint::server
