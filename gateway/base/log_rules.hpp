// The parts of a request that a line of the access log shows, as configured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint {

// How a line shows the key by which a limit has refused the request.
enum class LogKey : std::uint8_t {
    hash,   // 16 hex digits of the keyed hash: equal keys have equal digits
    prefix, // the first bytes: at most 8, and at most a third of the key
    full,
    off
};

struct LogRules {
    std::vector<std::string> fields; // names of request fields, lower case
    LogKey key = LogKey::hash;
};

} // namespace stint
