// Where the access log is written.
#pragma once

#include <cstdint>
#include <string>

namespace stint {

struct LogTarget {
    enum class Kind : std::uint8_t { standard_output, file, off } kind = Kind::standard_output;
    std::string path; // for Kind::file
    friend bool operator==(const LogTarget&, const LogTarget&) = default;
};

} // namespace stint
