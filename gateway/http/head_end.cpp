#include "http/head_parser.hpp"

#include <cstring>

namespace stint::http {

// An empty line ends the head; a line ends with LF, with or without CR before it. A head with a
// bare LF is thus seen to end, and parsing it then refuses it, instead of waiting for a CRLF pair
// that its sender has no mind to send.
std::size_t find_head_end(std::string_view data, std::size_t& scanned) noexcept {
    std::size_t from = scanned;
    while (from < data.size()) {
        const void* found = std::memchr(data.data() + from, '\n', data.size() - from);
        if (found == nullptr) {
            scanned = data.size();
            return 0;
        }
        const auto line_end =
            static_cast<std::size_t>(static_cast<const char*>(found) - data.data());
        const std::string_view next = data.substr(line_end + 1, 2);
        if (next.starts_with('\n'))
            return line_end + 2;
        if (next == "\r\n")
            return line_end + 3;
        if (next.empty() || next == "\r") { // undecided: look at this line end again
            scanned = line_end;
            return 0;
        }
        from = line_end + 1;
    }
    return 0;
}

} // namespace stint::http
