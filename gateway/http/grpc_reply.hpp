// The gateway's own refusals in the form that clients of gRPC understand: an HTTP 200 whose head is
// all there is ("Trailers-Only", PROTOCOL-HTTP2 of gRPC).
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"
#include "http/response.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace stint::http {

// Codes of gRPC (google.rpc.Code).
enum class GrpcCode : std::uint8_t {
    unknown = 2,
    permission_denied = 7,
    resource_exhausted = 8,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    unauthenticated = 16
};

// Returns the code that a client takes for a response of this status which has none
// (http-grpc-status-mapping of gRPC).
[[nodiscard]] GrpcCode grpc_code_of(int status) noexcept;

// True if the request's Content-Type is application/grpc, or one of its forms
// (application/grpc+proto).
[[nodiscard]] bool is_grpc(std::span<const Field> fields) noexcept;

struct GrpcRefusal {
    GrpcCode code = GrpcCode::unknown;
    std::optional<Duration> retry_after{}; // nothing: a retry does not help, or the time is unknown
    bool never = false;                    // a retry is never admitted
};

// Turns a reply with a plain text as its body into gRPC's form. Its fields stay, and these join
// them: grpc-status, grpc-message (the text), grpc-status-details-bin (google.rpc.Status, with
// RetryInfo if retry_after is set) and grpc-retry-pushback-ms (gRFC A6).
void turn_into_grpc(Response& reply, const GrpcRefusal& refusal);

} // namespace stint::http
