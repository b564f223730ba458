// Fills ${NAME} and ${NAME:-default} in the values of a YAML tree in from environment variables.
#pragma once

#include "config/load.hpp"
#include "config/yaml/diagnostics.hpp"
#include "config/yaml/yaml_tree.hpp"

namespace stint::config {

// Replaces each variable in the scalar values of the tree, but not in the keys of maps, and "$${"
// by "${". A value that held a variable keeps its former text in Node::written. Reports a variable
// that is not set and has no default, a text behind "${" that is no variable, and a value of the
// environment that is not plain UTF-8 text; such a value becomes unusable.
void fill_in_variables(Node& root, const Environment& environment, Diagnostics& report);

} // namespace stint::config
