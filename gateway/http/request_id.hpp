// X-Request-Id: the client's id if it is well-formed, else a UUIDv7 (RFC 9562 section 5.7).
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

// True for 1 to 128 characters of A-Z a-z 0-9 . _ - : + / = @.
[[nodiscard]] bool well_formed_request_id(std::string_view id) noexcept;

// Returns the first well-formed X-Request-Id; empty if there is none.
[[nodiscard]] std::string_view shown_request_id(std::span<const Field> fields) noexcept;

// A source of ids that sort by creation order, also within a millisecond (RFC 9562 section 6.2,
// method 1) and when the clock steps back by up to a second. One per worker, not thread-safe.
// Random bits come from a generator seeded by the system at construction: unique, not secret.
class RequestIdSource {
  public:
    using Text = std::array<char, 36>;

    RequestIdSource();
    [[nodiscard]] Text make(WallTime now) noexcept;
    // Returns the next 64 bits of a pseudo-random generator.
    [[nodiscard]] std::uint64_t next() noexcept;

  private:
    std::array<std::uint64_t, 2> state_;
    std::uint64_t millisecond_ = 0; // time of the last id
    std::uint64_t counter_ = 0;     // 12 bits, within that millisecond
};

} // namespace stint::http
