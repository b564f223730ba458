// The rules that a request's head obeys whatever protocol carried it.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/framing.hpp"
#include "http/head_error.hpp"

#include <span>
#include <string_view>

namespace stint::http {

// The tokens of a request's head, as a parser or a decoder has found them. Nothing is judged yet.
struct RequestTokens {
    std::string_view method;
    std::string_view target;
    int minor_version = 1;
    FieldIds ids;
    ControlFields control;
    // HTTP/2: a body follows the head, whether or not a Content-Length states its size.
    bool body_follows = false;
};

// Applies the rules for target, framing, Host, Connection, Expect and Max-Forwards. Fills
// `request`, or returns the error. fields: those noted in tokens.control. no_authority: an empty
// view into the bytes of the head, which stands for an authority that is not there.
[[nodiscard]] Result<void, HeadError> judge_request(
    const RequestTokens& tokens,
    std::span<const Field> fields,
    std::string_view no_authority,
    RequestHead& request) noexcept;

// Returns the id of a field by its name, in any case.
[[nodiscard]] FieldId id_of_field(std::string_view name) noexcept;

} // namespace stint::http
