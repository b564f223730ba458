// Which fields of a head are replaced or left out on its way; who does it is http/rewrite.hpp.
#pragma once

#include "base/text_template.hpp"

#include <string>
#include <vector>

namespace stint {

struct FieldEdits {
    struct Set {
        std::string name; // as it is to be spelt
        TextTemplate value;
    };
    std::vector<Set> set; // each in the place of all fields of its name
    // What goes: the names of `set` and those that are removed, in lower case and with "-" for "_",
    // since servers are known that read one as the other.
    std::vector<std::string> dropped;

    [[nodiscard]] bool empty() const noexcept { return dropped.empty(); }
};

} // namespace stint
