// stint simulate: replays access logs against a configuration. Reports which requests would be
// refused, by which limit, and the difference from the log or from another configuration.
#pragma once

#include "config/load.hpp"
#include "simulate/log_line.hpp"

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
    LogOptions log{};
    // Names, in lower case, of header fields that the logs always record.
    std::set<std::string, std::less<>> logged{};
    config::Environment environment{}; // for the variables in the configurations
};

enum class Ending : std::uint8_t {
    replayed,
    unreadable_log,    // also a log without any readable line
    bad_configuration, // `config` or `against`
};

// Runs the simulation. Writes the report to `out`, and errors to `errors`, one line each. Needs
// bounded memory for logs of any length. Opens no socket.
[[nodiscard]] Ending run(const Options& options, std::ostream& out, std::ostream& errors);

} // namespace stint::simulate
