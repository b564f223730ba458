// The strict rules of RFC 9110 and 9112 over the fields of a parsed head: where the message ends,
// what its sender wants of the connection, or why it is refused. Pure functions; what the parser
// below them lets pass in an order-dependent or lenient way is decided here alone.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/head_error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

// A Connection header with more options than this is refused: no honest sender comes near, and the
// work of removing the fields it names stays bounded.
inline constexpr std::size_t max_connection_options = 32;

// The fields that the rules read. Points to them.
struct ControlFields {
    struct Occurrences {
        const Field* first = nullptr;
        std::size_t count = 0;

        void add(const Field& field) noexcept {
            if (count++ == 0)
                first = &field;
        }
    };

    // Each field of the head, as it is found.
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

// 1*DIGIT, at most 2^63 - 1 (RFC 9110 section 8.6). Leading zeros are allowed: nobody is ever sent
// this text, only the number.
[[nodiscard]] Result<std::uint64_t, HeadError> parse_content_length(std::string_view text) noexcept;

// RFC 9112 section 6.3 without its leniency: both framing fields, a repeated one or a
// Transfer-Encoding other than exactly "chunked" on HTTP/1.1 are errors.
[[nodiscard]] Result<BodyFraming, HeadError>
request_framing(const ControlFields& control, int minor_version) noexcept;

// The same for the response to `method`.
[[nodiscard]] Result<BodyFraming, HeadError> response_framing(
    const ControlFields& control, int minor_version, int status, std::string_view method) noexcept;

// Whether a Connection field names the option.
[[nodiscard]] bool
has_connection_option(std::span<const Field> fields, std::string_view option) noexcept;

// Whether the sender would keep the connection (RFC 9112 section 9.3), from all Connection fields.
[[nodiscard]] Result<bool, HeadError> keeps_alive(
    const ControlFields& control, std::span<const Field> fields, int minor_version) noexcept;

// The value of Host: exactly one in HTTP/1.1, at most one in HTTP/1.0 (then possibly empty).
[[nodiscard]] Result<std::string_view, HeadError>
host_field(const ControlFields& control, int minor_version) noexcept;

// Whether "100-continue" is asked for; any other expectation is a 417. HTTP/1.0's is ignored (RFC
// 9110 section 10.1.1).
[[nodiscard]] Result<bool, HeadError>
expects_continue(const ControlFields& control, int minor_version) noexcept;

} // namespace stint::http
