// Reads the whole body of a request into memory, for handlers that answer it at once.
#pragma once

#include "base/time.hpp"
#include "http/head_error.hpp"
#include "net/deadlines.hpp"
#include "net/types.hpp"
#include "server/client_stream.hpp"
#include "server/loop.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace stint::server {

// One request's. Lives on the thread of its connection, no longer than the handler that reads.
class WholeBody final : private net::Deadline {
  public:
    static constexpr std::size_t most = 64 * 1024; // bytes
    static constexpr http::HeadError too_large{413, "the request's body is larger than 64 KiB"};

    // Both arguments outlive this.
    WholeBody(Loop& loop, ClientStream& stream) noexcept : loop_{loop}, stream_{stream} {}

    // Reads the body behind what has come with the head, and sends the 100 Continue that the client
    // waits for, all within `time`. Returns nothing if `into` is the body, else the refusal: 400,
    // 408 or 413. After a refusal the position of the next request is not known. Call it once.
    [[nodiscard]] net::Task<std::optional<http::HeadError>> read(Duration time, std::string& into);

  private:
    [[nodiscard]] net::Task<bool> allow();
    void on_deadline() noexcept override;

    Loop& loop_;
    ClientStream& stream_;
    bool timed_out_ = false;
};

} // namespace stint::server
