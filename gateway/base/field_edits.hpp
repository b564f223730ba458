// Configured edits of a head: fields that are replaced or removed while it is forwarded.
// http/rewrite.hpp applies the edits.
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
    std::vector<Set> set; // each replaces all fields of its name
    // Names of fields that are not forwarded: those of `set` and the removed ones, in lower case
    // and with "-" for "_", because some servers read "_" as "-".
    std::vector<std::string> dropped;

    [[nodiscard]] bool empty() const noexcept { return dropped.empty(); }
};

} // namespace stint
