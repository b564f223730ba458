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

// Serves one request. Used on the thread of its connection; must not outlive the handler that
// reads.
class WholeBody final : private net::Deadline {
  public:
    static constexpr std::size_t most = 64 * 1024; // bytes
    static constexpr http::HeadError too_large{413, "the request's body is larger than 64 KiB"};

    // Both arguments must outlive this object.
    WholeBody(Loop& loop, ClientStream& stream) noexcept : loop_{loop}, stream_{stream} {}

    // Reads the rest of the body, all within `time`, and sets `into` to the whole body. Sends the
    // 100 Continue first if the client waits for it. Returns nothing on success, else the refusal:
    // 400, 408 or 413. After a refusal the position of the next request is not known. Call it once.
    [[nodiscard]] net::Task<std::optional<http::HeadError>> read(Duration time, std::string& into);

  private:
    [[nodiscard]] net::Task<bool> allow();
    void on_deadline() noexcept override;

    Loop& loop_;
    ClientStream& stream_;
    bool timed_out_ = false;
};

} // namespace stint::server
