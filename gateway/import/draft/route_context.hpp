// A location whose route is being written.
#pragma once

#include "import/draft/routes.hpp"

#include <string>

namespace stint::import_nginx {

struct Routes::Context {
    const HostedServer& hosted;
    const LocationMatch& match;
    const Settings& settings;
    const std::string& server_name; // the first name of the server; may be empty
};

} // namespace stint::import_nginx
