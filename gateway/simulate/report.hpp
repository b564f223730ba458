// The result of a simulation, for people and for machines.
#pragma once

#include "simulate/log_files.hpp"
#include "simulate/tally.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace stint::simulate {

struct Report {
    std::string file;                   // the configuration
    std::optional<std::string> against; // the other one; nothing: compare with the log's outcomes
    LogFiles::Figures log;
    std::uint64_t requests = 0;
    WallTime from{};
    WallTime to{};
    Tally after;
    Tally before;
    Difference difference;
    // Requests admitted here, but refused by the log's own limits: when and how they would have
    // ended, which caps and refunds depend on, is unknown. They held slots for no time and were
    // counted in full.
    std::uint64_t unknown_ends = 0;
};

inline constexpr std::size_t keys_shown = 10;

void write_text(std::ostream& out, const Report& report);
void write_json(std::ostream& out, const Report& report);

} // namespace stint::simulate
