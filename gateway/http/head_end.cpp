#include "http/head_parser.hpp"

#include <cstring>

namespace stint::http {

// Finds the empty line that ends the head. A line ends with LF, with or without CR before it. So
// the end of a head with a bare LF is found, and the parser then refuses the head. Otherwise the
// gateway would wait for a CRLF pair that the sender will not send.
std::size_t find_head_end(std::string_view data, std::size_t& scanned) noexcept {
    const char* const begin = data.data();
    const char* const end = begin + data.size();
    const char* line = begin + scanned;
    while (line < end) {
        const void* const found = std::memchr(line, '\n', static_cast<std::size_t>(end - line));
        if (found == nullptr) {
            scanned = data.size();
            return 0;
        }
        line = static_cast<const char*>(found) + 1;
        if (line != end && *line > '\r') [[likely]]
            continue; // the line is not empty
        const auto size = static_cast<std::size_t>(line - begin);
        const std::string_view next = data.substr(size);
        if (next.starts_with('\n'))
            return size + 1;
        if (next.starts_with("\r\n"))
            return size + 2;
        if (next.empty() || next == "\r") { // the next bytes decide: look at this line end again
            scanned = size - 1;
            return 0;
        }
    }
    return 0;
}

} // namespace stint::http
