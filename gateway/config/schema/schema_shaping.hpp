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
        std::string value;          // may have field_placeholders (base/text_template.hpp)
        std::string written{};      // `value` as in the file, if it has variables; else empty
        bool may_be_secret = false; // true: GET /config does not show the value
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
    std::string body; // may have field_placeholders (base/text_template.hpp)
    std::vector<FieldEdits::Set> headers;
    std::string location; // may have target_placeholders; empty unless the answer is a redirect
};

} // namespace stint::config
