// Generates a JSON Schema of the configuration file from the tables of all keys.
#pragma once

#include <string>

namespace stint::config {

// Returns a schema of draft-07, for editors (yaml-language-server) and validators, with a line feed
// at its end. It refuses nothing that the loader accepts, if the file is read by YAML 1.2's core
// schema. It knows keys, types, words and bounds; it does not know names that refer to one another,
// keys that exclude one another, files, or texts with a syntax of their own (addresses, paths,
// sources of keys).
[[nodiscard]] std::string json_schema();

} // namespace stint::config
