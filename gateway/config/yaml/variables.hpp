// Replaces ${NAME} and ${NAME:-default} in the values of a YAML tree by environment variables.
#pragma once

#include "config/load.hpp"
#include "config/yaml/diagnostics.hpp"
#include "config/yaml/yaml_tree.hpp"

namespace stint::config {

// Replaces each variable in the scalar values of the tree, but not in the keys of maps, and "$${"
// by "${". The former text of a value with variables is kept in Node::Remarks::written. Reports an
// error and makes the node unusable for a variable that is not set and has no default, a text
// behind "${" that is no variable, a value of the environment that is not plain UTF-8 text, and
// values of more than 1 MiB in total.
void fill_in_variables(Node& root, const Environment& environment, Diagnostics& report);

} // namespace stint::config
