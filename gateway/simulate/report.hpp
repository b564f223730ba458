// The result of a simulation, and its output as text and as JSON.
#pragma once

#include "simulate/log_files.hpp"
#include "simulate/tally.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace stint::simulate {

struct Report {
    std::string file;                   // path of the configuration
    std::optional<std::string> against; // configuration to compare with; nullopt: the log
    LogFiles::Figures log;
    std::uint64_t requests = 0;
    WallTime from{};
    WallTime to{};
    Tally after;
    Tally before;
    Difference difference;
    // Requests that are admitted in the simulation, but were refused in the log, so that their
    // duration and status are unknown. The simulation lets them hold slots for no time, and refunds
    // nothing.
    std::uint64_t unknown_ends = 0;
    std::vector<std::string> notes{}; // see notes_of()
};

inline constexpr std::size_t keys_shown = 10;

void write_text(std::ostream& out, const Report& report);
void write_json(std::ostream& out, const Report& report);

} // namespace stint::simulate
