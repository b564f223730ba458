// Why a head or a body was not accepted, and how to answer.
#pragma once

#include <string_view>

namespace stint::http {

struct HeadError {
    int status = 400;        // the answer to a client; towards an upstream every error is a 502
    std::string_view detail; // one sentence with static storage: what was found, by which rule
};

} // namespace stint::http
