#include "oracle.hpp"

#include <cstdio>
#include <cstdlib>

namespace stint::fuzz {

void require(bool holds, std::string_view rule, std::string_view seen) {
    if (holds) [[likely]]
        return;
    std::fprintf(stderr, "BROKEN: %.*s\n", static_cast<int>(rule.size()), rule.data());
    for (const char c : seen.substr(0, 4096)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            std::fputc(c, stderr);
        else
            std::fprintf(stderr, c == '\n' ? "\\x%02x\n" : "\\x%02x", byte);
    }
    std::fputc('\n', stderr);
    std::abort();
}

} // namespace stint::fuzz
