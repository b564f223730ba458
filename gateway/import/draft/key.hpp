// Translates the key of a zone, a text with variables, into the key of a limit.
#pragma once

#include "import/read/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

struct Key {
    std::vector<std::string> sources; // as Stint names them; empty: one counter for all requests
    std::string missing;              // missing_key; "": its default
    bool per_server = false;          // has $server_name: a limit of each server
    bool always_empty = false;        // nginx counts nothing
    std::vector<std::string> exempt;  // networks that nginx does not count
    std::vector<std::string> notes;   // where Stint counts otherwise
    std::string fault;                // why Stint has no such key; "": it has
};

// server: the first name of the server; may be empty.
[[nodiscard]] Key key_of(std::string_view text, const Model& model, std::string_view server);

} // namespace stint::import_nginx
