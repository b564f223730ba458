// Text forms of permits acquired in advance (also in X-Stint-Permit) and of leases.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// Returns "p_" and 32 lower-case hexadecimal digits.
[[nodiscard]] std::string permit_text(Hash128 id);
// Parses permit_text(); nothing for any other spelling.
[[nodiscard]] std::optional<Hash128> parse_permit(std::string_view text) noexcept;

// Write and parse the id of a lock's lease: "l_" and 32 lower-case hexadecimal digits.
[[nodiscard]] std::string lease_text(Hash128 id);
[[nodiscard]] std::optional<Hash128> parse_lease(std::string_view text) noexcept;

// Returns the permit in the request's X-Stint-Permit; nothing if it is malformed, or the field
// occurs twice.
[[nodiscard]] std::optional<Hash128> shown_permit(std::span<const Field> fields) noexcept;

} // namespace stint::http
