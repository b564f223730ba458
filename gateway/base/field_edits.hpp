// Fields of a head that are replaced or removed on its way; http/rewrite.hpp applies the edits.
#pragma once

#include "base/text_template.hpp"

#include <string>
#include <vector>

namespace stint {

struct FieldEdits {
    struct Set {
        std::string name; // spelt as it is sent
        TextTemplate value;
    };
    std::vector<Set> set; // each in the place of all fields of its name
    // Removed names: those of `set` and the removed ones, in lower case and with "-" for "_", since
    // servers are known that read one as the other.
    std::vector<std::string> dropped;

    [[nodiscard]] bool empty() const noexcept { return dropped.empty(); }
};

} // namespace stint
