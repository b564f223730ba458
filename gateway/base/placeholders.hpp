// Placeholders in the text of a limit's own response, filled in at each refusal.
#pragma once

#include <array>
#include <string_view>

namespace stint {

// The placeholders, in the order that the writer of http::LimitedReply expects. Any other text in
// braces stays as it is.
inline constexpr std::array<std::string_view, 4> reply_placeholders{
    "{retry_after}", "{retry_after_ms}", "{limit}", "{request_id}"};

} // namespace stint
