// The files of an nginx configuration, for the parser. The only part of this layer that does I/O.
#pragma once

#include "import/syntax/parser.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace stint::import_nginx {

// Returns access to the files of this machine. folder: where relative paths begin.
[[nodiscard]] Sources files_of(std::string folder);

enum class Ending : std::uint8_t { carried_over, lost_something, bad_input, no_output };

// Imports a file, or standard input for "-". out: gets the draft. err: gets the findings and the
// mistakes of the draft, such as certificates that are not here; or the fault.
[[nodiscard]] Ending run(const std::string& file, std::ostream& out, std::ostream& err);

} // namespace stint::import_nginx
