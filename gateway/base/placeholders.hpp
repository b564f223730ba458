// Placeholders in the text of a limit's own response, filled in at each refusal.
#pragma once

#include <array>
#include <string_view>

namespace stint {

// In the order of http::LimitedReply's writer. Everything else between braces stays as it is.
inline constexpr std::array<std::string_view, 4> reply_placeholders{
    "{retry_after}", "{retry_after_ms}", "{limit}", "{request_id}"};

} // namespace stint
