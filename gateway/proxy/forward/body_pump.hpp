// State of the coroutine that sends the rest of a request's body upstream.
#pragma once

#include "net/event.hpp"

namespace stint::proxy {

struct BodyPump {
    net::Event stopped;
    bool running = false;
    bool begun = false; // the body cannot be sent again
    bool writes = false;
    bool reads = false;
    bool stopping = false;
};

} // namespace stint::proxy
