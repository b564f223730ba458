// The form of the gateway's own answers that a client prefers (RFC 9110 section 12.5.1).
#pragma once

#include "base/message.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

enum class MediaType : std::uint8_t { problem_json, html, plain };

// Returns the best of the three by the request's Accept fields: the most specific range that
// matches a type gives its weight, and of equal weights the first of the three wins.
// application/json asks for a problem document too. Without Accept, or if none of the three is
// acceptable, problem_json: an answer in another form is more use than a 406. Malformed list
// elements are skipped.
[[nodiscard]] MediaType preferred_media_type(std::span<const Field> fields) noexcept;

// True if the request's Accept fields name this type itself, with a weight above 0. Ranges such as
// "*/*" do not count.
[[nodiscard]] bool names_media_type(
    std::span<const Field> fields, std::string_view type, std::string_view subtype) noexcept;

// The Content-Type field's value.
[[nodiscard]] std::string_view content_type(MediaType type) noexcept;

} // namespace stint::http
