// The differences between two configurations, and when each has effect. Pure.
#pragma once

#include "config/diff/shown_diff.hpp"
#include "config/fields/field.hpp"
#include "config/schema/schema.hpp"

#include <vector>

namespace stint::config {

struct Change : Difference {
    Reload effect = Reload::applies; // when it takes effect
};

// Returns every key whose value differs, defaults included. Values are as GET /config shows them; a
// Shown::Secret among them must not be told. Contents of files that the configurations name are not
// compared.
[[nodiscard]] std::vector<Change> changes_between(const Config& former, const Config& next);

// Returns when a change of the value at the path takes effect: as the row of its key says, or of
// the nearest key around it that has a row.
[[nodiscard]] Reload effect_of(const Path& path);

} // namespace stint::config
