// A configuration while its file is being read.
#pragma once

#include "config/schema/schema.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace stint::config {

struct LoadState {
    struct NamedAt {
        std::size_t index; // in its list of the configuration
        std::size_t line;
    };
    using Names = std::map<std::string, NamedAt, std::less<>>;

    Config config;
    std::filesystem::path file;   // the file being read
    std::filesystem::path folder; // relative paths begin here
    Names upstreams;
    Names limits;                       // named and inline ones, but no locks
    Names locks;                        // in the list of limits, by what they are called as locks
    bool asks_for_certificates = false; // clients', at any listener
};

} // namespace stint::config
