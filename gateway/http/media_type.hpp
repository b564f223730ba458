// Chooses the form of the gateway's own answers that a client prefers (RFC 9110 section 12.5.1).
#pragma once

#include "base/message.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace stint::http {

enum class MediaType : std::uint8_t { problem_json, html, plain };

// Returns the best of the three types by the request's Accept fields. The weight of a type is that
// of the most specific range that matches it; of equal weights the first type wins.
// application/json asks for a problem document, too. Returns problem_json without Accept, or if
// none of the three is acceptable: an answer in another form is more useful than a 406. Malformed
// list elements are skipped.
[[nodiscard]] MediaType preferred_media_type(std::span<const Field> fields) noexcept;

// True if the request's Accept fields name this type itself, with a weight above 0. Ranges such as
// "*/*" do not count.
[[nodiscard]] bool names_media_type(
    std::span<const Field> fields, std::string_view type, std::string_view subtype) noexcept;

// The Content-Type field's value.
[[nodiscard]] std::string_view content_type(MediaType type) noexcept;

} // namespace stint::http
