// Notes for the report on the things that logs do not tell.
#pragma once

#include "simulate/log_files.hpp"

#include <string>
#include <vector>

namespace stint::simulate {

// Returns a sentence for each thing that the logs do not tell, with what the simulation assumes
// instead. Empty for logs of Stint. against_log: the result is compared with what the log says
// happened.
[[nodiscard]] std::vector<std::string> notes_of(const LogFiles::Figures& log, bool against_log);

} // namespace stint::simulate
