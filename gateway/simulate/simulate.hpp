// stint simulate: replays access logs against a configuration. Reports which requests would be
// refused, by which limit, and the difference from the log or from another configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stint::simulate {

struct Options {
    std::string config;
    std::optional<std::string> against;
    std::vector<std::string> logs; // "-" is standard input
    bool json = false;
    // Names of fields, lower case, that the logs carry wherever the request had them.
    std::set<std::string, std::less<>> logged{};
};

enum class Ending : std::uint8_t {
    replayed,
    unreadable_log,    // also one without any Stint log line
    bad_configuration, // either of them
};

// Writes the report to `out`, and errors to `errors`, one line each. Memory is bounded, whatever
// the length of the logs. Reads files; opens no socket.
[[nodiscard]] Ending run(const Options& options, std::ostream& out, std::ostream& errors);

} // namespace stint::simulate
