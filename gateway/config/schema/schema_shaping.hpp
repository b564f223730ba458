// Header edits of routes and upstreams, path rewrites, and responses that routes send without an
// upstream. A part of schema.hpp.
#pragma once

#include "base/regex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::config {

// Header fields to set and to remove. Names are spelt as configured; each name is in only one of
// the lists, once.
struct FieldEdits {
    struct Set {
        std::string name;
        std::string value;          // with field_placeholders
        std::string written{};      // `value` with its variables, as in the file; empty = none
        bool may_be_secret = false; // GET /config does not show it
    };
    std::vector<Set> set;
    std::vector<std::string> remove;
};
struct Shaping {
    FieldEdits request;
    FieldEdits response;
};

// The rewrite of a path for the upstream.
struct PathRewrite {
    enum class Kind : std::uint8_t { prefix, whole, regex };
    Kind kind = Kind::prefix;
    std::string from; // Kind::prefix: the prefix to replace, without its last "/"
    std::string to;
    std::optional<Regex> regex;
};

// A response that a route sends itself instead of an upstream's (respond or redirect).
struct Answer {
    int status = 200;
    std::string content_type;
    std::string body; // with field_placeholders
    std::vector<FieldEdits::Set> headers;
    std::string location; // with target_placeholders; empty unless it is a redirect
};

} // namespace stint::config
