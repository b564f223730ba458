// Turns an nginx configuration into a draft of a Stint configuration. Does no I/O.
#pragma once

#include "base/error.hpp"
#include "import/report.hpp"
#include "import/syntax/parser.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

struct Imported {
    std::string draft; // YAML that `stint check` accepts, if the files that it names exist
    std::vector<Finding> findings; // in the order of the files

    // True if everything was carried over: no finding is `lost`.
    [[nodiscard]] bool whole() const;
};

// text: of the main file. file: its name, for places. A configuration that cannot be parsed, or has
// no server, is a fault.
[[nodiscard]] Result<Imported, SyntaxFault>
import_text(std::string_view text, const std::string& file, const Sources& sources);

} // namespace stint::import_nginx
