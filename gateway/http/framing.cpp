#include "http/framing.hpp"

#include "http/ascii.hpp"
#include "http/request_line.hpp"

#include <algorithm>
#include <limits>

namespace stint::http {

namespace {

using Kind = BodyFraming::Kind;

// Returns the error for one Transfer-Encoding value that is not exactly "chunked": 501 if the value
// has an unknown coding; 400 if it is no list of codings, or if a coding follows "chunked".
HeadError refuse_transfer_encoding(std::string_view value) noexcept {
    bool well_formed = true;
    bool after_chunked = false;
    ascii::for_each_element(value, [&](std::string_view coding) {
        well_formed &= !coding.empty() && ascii::token.contains_all(coding) && !after_chunked;
        after_chunked |= ascii::equals_folded(coding, "chunked");
    });
    if (!well_formed)
        return {400, "Transfer-Encoding is malformed or does not end in one chunked coding."};
    return {501, "Only the transfer coding chunked is supported."};
}

// True if the message is chunked. Any form of the fields but the one that all implementations read
// alike is an error.
Result<bool, HeadError> is_chunked(const ControlFields& control, int minor_version) noexcept {
    const auto& [field, count] = control.transfer_encoding;
    if (count == 0)
        return false;
    if (control.content_length.count != 0)
        return HeadError{400, "Transfer-Encoding and Content-Length are both present."};
    if (count > 1)
        return HeadError{400, "Transfer-Encoding is given more than once."};
    if (minor_version == 0)
        return HeadError{400, "HTTP/1.0 has no Transfer-Encoding."};
    if (!ascii::equals_folded(field->value, "chunked"))
        return refuse_transfer_encoding(field->value);
    return true;
}

// Returns the framing that the fields state; Kind::none if they state none.
Result<BodyFraming, HeadError>
stated_framing(const ControlFields& control, int minor_version) noexcept {
    const auto chunked = is_chunked(control, minor_version);
    if (!chunked)
        return chunked.error();
    if (*chunked)
        return BodyFraming{Kind::chunked, 0};
    if (control.content_length.count == 0)
        return BodyFraming{};
    if (control.content_length.count > 1)
        return HeadError{400, "Content-Length is given more than once."};
    const auto length = parse_content_length(control.content_length.first->value);
    if (!length)
        return length.error();
    return BodyFraming{Kind::length, *length};
}

struct ConnectionOptions {
    std::size_t count = 0;
    bool close = false;
    bool keep_alive = false;
};

void add_options(ConnectionOptions& options, std::string_view value) noexcept {
    ascii::for_each_element(value, [&options](std::string_view option) {
        ++options.count;
        options.close |= ascii::equals_folded(option, "close");
        options.keep_alive |= ascii::equals_folded(option, "keep-alive");
    });
}

} // namespace

Result<std::uint64_t, HeadError> parse_content_length(std::string_view text) noexcept {
    constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
    std::uint64_t length = 0;
    bool too_large = false;
    for (const char c : text) {
        if (c < '0' || c > '9')
            return HeadError{400, "Content-Length is not a decimal number."};
        too_large |= length > max / 10;
        length = length * 10 + static_cast<std::uint64_t>(c - '0');
        too_large |= length > max;
    }
    if (text.empty())
        return HeadError{400, "Content-Length is not a decimal number."};
    if (too_large)
        return HeadError{400, "Content-Length is too large."};
    return length;
}

Result<BodyFraming, HeadError>
request_framing(const ControlFields& control, int minor_version) noexcept {
    return stated_framing(control, minor_version);
}

Result<BodyFraming, HeadError> response_framing(
    const ControlFields& control, int minor_version, int status, std::string_view method) noexcept {
    auto framing = stated_framing(control, minor_version);
    if (!framing)
        return framing;
    if (method == "HEAD" || status < 200 || status == 204 || status == 304)
        return BodyFraming{};
    if (framing->kind == Kind::none)
        return BodyFraming{Kind::until_close, 0};
    return framing;
}

bool has_connection_option(std::span<const Field> fields, std::string_view option) noexcept {
    return std::any_of(fields.begin(), fields.end(), [option](const Field& field) {
        return field.id == FieldId::connection && ascii::list_contains(field.value, option);
    });
}

Result<bool, HeadError> keeps_alive(
    const ControlFields& control, std::span<const Field> fields, int minor_version) noexcept {
    if (control.connection.count == 0)
        return minor_version > 0;
    ConnectionOptions options;
    if (control.connection.count == 1) {
        add_options(options, control.connection.first->value);
    } else {
        for (const Field& field : fields)
            if (field.id == FieldId::connection)
                add_options(options, field.value);
    }
    if (options.count > max_connection_options)
        return HeadError{400, "Connection has too many options."};
    return !options.close && (minor_version > 0 || options.keep_alive);
}

Result<std::string_view, HeadError>
host_field(const ControlFields& control, int minor_version) noexcept {
    if (control.host.count > 1)
        return HeadError{400, "Host is given more than once."};
    if (control.host.count == 0) {
        if (minor_version > 0)
            return HeadError{400, "An HTTP/1.1 request must have a Host."};
        return std::string_view{};
    }
    const std::string_view host = control.host.first->value;
    if (!valid_authority(host))
        return HeadError{400, "Host is not a host name or address with an optional port."};
    return host;
}

Result<bool, HeadError> expects_continue(const ControlFields& control, int minor_version) noexcept {
    if (control.expect.count == 0 || minor_version == 0)
        return false;
    if (control.expect.count > 1 ||
        !ascii::equals_folded(control.expect.first->value, "100-continue"))
        return HeadError{417, "Only the expectation 100-continue can be met."};
    return true;
}

} // namespace stint::http
