// How permits that were taken beforehand, and leases, are written; X-Stint-Permit.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// "p_" and 32 lower-case hexadecimal digits.
[[nodiscard]] std::string permit_text(Hash128 id);
// Nothing where it is spelt in any other way.
[[nodiscard]] std::optional<Hash128> parse_permit(std::string_view text) noexcept;

// The same for leases of locks: "l_" and such digits.
[[nodiscard]] std::string lease_text(Hash128 id);
[[nodiscard]] std::optional<Hash128> parse_lease(std::string_view text) noexcept;

// What the request shows; nothing where that is malformed, or the field stands there twice.
[[nodiscard]] std::optional<Hash128> shown_permit(std::span<const Field> fields) noexcept;

} // namespace stint::http
