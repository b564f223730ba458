// Changes of heads and paths by routes and upstreams, and responses that routes send themselves. A
// part of schema.hpp.
#pragma once

#include "base/regex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::config {

// Fields to set and to remove in heads. Names as written, each once in both lists.
struct FieldEdits {
    struct Set {
        std::string name;
        std::string value; // with field_placeholders
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
    std::string from; // a prefix without its last "/", as its `to`
    std::string to;
    std::optional<Regex> regex;
};

// A response of Stint's own in place of an upstream's: respond or redirect.
struct Answer {
    int status = 200;
    std::string content_type;
    std::string body; // with field_placeholders
    std::vector<FieldEdits::Set> headers;
    std::string location; // a redirect's, with target_placeholders; else empty
};

} // namespace stint::config
