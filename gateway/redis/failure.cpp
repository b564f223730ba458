#include "redis/failure.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::redis {

std::string printable(std::string_view bytes) {
    constexpr std::size_t longest = 200;
    std::string text{bytes.substr(0, longest)};
    std::ranges::replace_if(
        text,
        [](char byte) {
            const auto code = static_cast<unsigned char>(byte);
            return code < 0x20 || code >= 0x7f;
        },
        '?');
    return text;
}

std::string text_of(const ErrorCode& error) {
    std::string text = error.message();
    if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z')
        text.front() = static_cast<char>(text.front() - 'A' + 'a');
    return text;
}

} // namespace stint::redis
