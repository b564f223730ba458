// A response that the configuration fixes, sent without an upstream.
#pragma once

#include "base/field_edits.hpp"
#include "base/text_template.hpp"

#include <string>
#include <vector>

namespace stint {

struct FixedAnswer {
    int status = 200;         // 200 to 599
    std::string content_type; // empty: no Content-Type is sent
    TextTemplate body;
    std::vector<FieldEdits::Set> fields; // each name once
    TextTemplate location;     // target of a redirect, with target_placeholders; empty: none
    bool names_server = false; // `fields` has a Server field
};

} // namespace stint
