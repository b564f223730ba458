// Notes about a configuration that is valid but may not be what was meant.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// Returns a human-readable line for each of these: a limit or an upstream that nothing uses, a "*"
// in a path that is matched literally, a "$" variable in set_headers, "${" in the key of an
// override, a folder of a log or state file that does not exist, a key of several sources whose
// requests may share one counter. Looks at the file system.
[[nodiscard]] std::vector<std::string> config_notes(const config::Config& config);

} // namespace stint::runtime
