// Takes apart the text of a log line, from its front.
#pragma once

#include "base/time.hpp"
#include "runtime/synthetic_request.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stint::simulate {

// Removes a decimal number of exactly `digits` digits from the front of `text` and returns it; -1
// if there is none.
[[nodiscard]] int take_number(std::string_view& text, std::size_t digits);

// Removes `expected` from the front of `text`. Returns false if `text` starts otherwise.
[[nodiscard]] bool take(std::string_view& text, char expected);

// Removes the text up to the next `end`, and the `end`, and returns the text without it; nullopt if
// there is no `end`.
[[nodiscard]] std::optional<std::string_view> take_until(std::string_view& text, char end);

// Removes a date such as "25/Nov/2026:10:00:01" and returns it as if it were UTC; nullopt if there
// is none.
[[nodiscard]] std::optional<WallTime> take_log_date(std::string_view& text);

// Sets method, target and, for an absolute target, host from a request line such as
// "GET / HTTP/2.0". Leaves the method empty if the line is not of that form.
void read_request_line(runtime::SyntheticRequest& request, std::string_view line);

// Returns true if `text` has a byte that no header field may have.
[[nodiscard]] bool has_control(std::string_view text) noexcept;

} // namespace stint::simulate
