// Turns the bytes of one complete head into a RequestHead or ResponseHead, strictly: what RFC 9112
// leaves open is refused. The framing rules that prevent request smuggling are applied here:
// callers never see a message whose end is in doubt.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

namespace stint::http {

// Returns the length of the head that `data` begins with, its final empty line included, or 0 if it
// is incomplete. scanned: number of bytes of `data` that earlier calls have scanned, at first 0. It
// is advanced, so that each byte of a head that trickles in is scanned once.
[[nodiscard]] std::size_t find_head_end(std::string_view data, std::size_t& scanned) noexcept;

// The limits for a request's head. A request that exceeds one is refused with the status named
// here. By default only the parser's own limits apply.
struct RequestLimits {
    std::size_t max_target = std::numeric_limits<std::size_t>::max(); // bytes; longer: 414
    std::size_t max_fields = std::numeric_limits<std::size_t>::max(); // more: 431
};

// Reusable; one per worker. Not thread-safe. After warm-up parsing allocates nothing.
class HeadParser {
  public:
    // max_head: bytes of the longest head that callers pass. It is not checked: the caller refuses
    // longer heads (431). A head with more than max_fields fields is always refused.
    explicit HeadParser(std::size_t max_head, std::size_t max_fields = 128);
    ~HeadParser();
    HeadParser(HeadParser&&) noexcept;
    HeadParser& operator=(HeadParser&&) noexcept;

    // Parses a request's head. head: exactly one head as found by find_head_end, without leading
    // empty lines. The result's views point into `head`; its fields are valid until the next call.
    // A head that was accepted once is accepted again, also with wider limits.
    [[nodiscard]] Result<RequestHead, HeadError>
    parse_request(std::string_view head, const RequestLimits& limits = {});

    // Parses a request's head into `into`, and its fields into `room`, which limits their number.
    // Both results stay until their owner changes them. Returns nullptr, or the error, which is
    // valid until the next call.
    [[nodiscard]] const HeadError* parse_request(
        std::string_view head,
        std::size_t max_target,
        std::span<Field> room,
        RequestHead& into) noexcept;

    // Sets the largest number of fields for later responses: `max`, or max_fields if that is less.
    void limit_response_fields(std::size_t max) noexcept;

    // Parses a response's head. method: that of the request; a HEAD response has no body whatever
    // its fields say. A 1xx response comes out with BodyFraming::Kind::none: the caller goes on
    // with the next head.
    [[nodiscard]] Result<ResponseHead, HeadError>
    parse_response(std::string_view head, std::string_view method);

    // Parses a response's head into `into`, because a ResponseHead returned by value would cost 80
    // instructions to copy. Returns the error, valid until the next call; nullptr means success.
    // After an error `into` is unusable.
    [[nodiscard]] const HeadError*
    parse_response(std::string_view head, std::string_view method, ResponseHead& into) noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace stint::http
