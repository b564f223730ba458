// An answer that stands in the configuration: no upstream is asked.
#pragma once

#include "base/field_edits.hpp"
#include "base/text_template.hpp"

#include <string>
#include <vector>

namespace stint {

struct FixedAnswer {
    int status = 200;         // 200 to 599
    std::string content_type; // empty: none is told
    TextTemplate body;
    std::vector<FieldEdits::Set> fields; // each name once
    TextTemplate location;               // of a redirect, with target_placeholders; empty: none
    bool names_server = false;           // one of the fields is Server
};

} // namespace stint
