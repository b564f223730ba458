// The strict rules of RFC 9110 and 9112 over the fields of a parsed head: where the message ends,
// whether the connection persists, or why the message is refused. Functions without state. They
// decide instead of the underlying parser, which is lenient and depends on the order of fields.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

// The most options that a Connection header may have. A normal sender has a few. More are refused,
// so that the work of removing the fields they name stays bounded.
inline constexpr std::size_t max_connection_options = 32;

// The fields that the framing rules read, by pointer.
struct ControlFields {
    struct Occurrences {
        const Field* first = nullptr;
        std::size_t count = 0;

        void add(const Field& field) noexcept {
            if (count++ == 0)
                first = &field;
        }
    };

    // Records one field of the head. Called for each field in turn.
    void note(const Field& field) noexcept {
        switch (field.id) {
        case FieldId::connection:
            return connection.add(field);
        case FieldId::content_length:
            return content_length.add(field);
        case FieldId::expect:
            return expect.add(field);
        case FieldId::host:
            return host.add(field);
        case FieldId::transfer_encoding:
            return transfer_encoding.add(field);
        default:
            return;
        }
    }

    Occurrences connection;
    Occurrences content_length;
    Occurrences expect;
    Occurrences host;
    Occurrences transfer_encoding;
};

// Parses 1*DIGIT, at most 2^63 - 1 (RFC 9110 section 8.6). Leading zeros are allowed, because the
// gateway forwards the number and not this text.
[[nodiscard]] Result<std::uint64_t, HeadError> parse_content_length(std::string_view text) noexcept;

// Returns the framing of a request's body by RFC 9112 section 6.3, without its leniency: both
// framing fields together, a repeated one, or a Transfer-Encoding other than exactly "chunked" on
// HTTP/1.1 are errors.
[[nodiscard]] Result<BodyFraming, HeadError>
request_framing(const ControlFields& control, int minor_version) noexcept;

// Returns the framing of the body of a response to `method`, by the same rules as
// request_framing().
[[nodiscard]] Result<BodyFraming, HeadError> response_framing(
    const ControlFields& control, int minor_version, int status, std::string_view method) noexcept;

// True if a Connection field names the option.
[[nodiscard]] bool
has_connection_option(std::span<const Field> fields, std::string_view option) noexcept;

// True if the sender keeps the connection alive (RFC 9112 section 9.3), by all Connection fields.
[[nodiscard]] Result<bool, HeadError> keeps_alive(
    const ControlFields& control, std::span<const Field> fields, int minor_version) noexcept;

// Returns the value of Host; empty for an HTTP/1.0 request without one. No Host in HTTP/1.1,
// several of them, and a malformed value are errors.
[[nodiscard]] Result<std::string_view, HeadError>
host_field(const ControlFields& control, int minor_version) noexcept;

// True if the request expects "100-continue"; any other expectation is an error (417). False for
// HTTP/1.0 (RFC 9110 section 10.1.1).
[[nodiscard]] Result<bool, HeadError>
expects_continue(const ControlFields& control, int minor_version) noexcept;

} // namespace stint::http
