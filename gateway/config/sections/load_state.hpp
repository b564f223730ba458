// The state of a configuration file that is being read: the values so far, and the names defined so
// far.
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
        std::size_t index; // index in Config::upstreams or Config::limits
        std::size_t line;  // line of its definition
    };
    using Names = std::map<std::string, NamedAt, std::less<>>;

    Config config;
    std::filesystem::path file;   // the file being read
    std::filesystem::path folder; // base of relative paths in the file
    Names upstreams;
    Names limits;                       // named and inline limits, without locks
    Names locks;                        // locks in Config::limits, by lock name
    bool asks_for_certificates = false; // true if any listener requests client certificates
};

} // namespace stint::config
