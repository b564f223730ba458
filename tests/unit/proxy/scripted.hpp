// One request over the gateway, what its upstream answers in two pieces, and what is left then.
#pragma once

#include "fixture.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <optional>
#include <string_view>

namespace stint::test {

class Scripted {
  public:
    explicit Scripted(std::string_view request = get) : request_{request} { ask(); }

    // The upstream says it cut anywhere, then closes or not.
    void answer(std::string_view response, std::size_t cut, bool close) {
        upstream->send(response.substr(0, cut));
        gateway.settle();
        try {
            upstream->send(response.substr(cut));
        } catch (const std::exception&) {
            // Closed already: it had seen enough.
        }
        if (close)
            upstream->close();
        gateway.settle();
    }

    // After an answer that ended its upstream's connection: the client's goes on over another one.
    void check_goes_on_afresh() {
        CHECK(gateway.pooled() == 0);
        upstream->wait_closed();
        client.send(get);
        upstream.emplace(gateway.upstream.accept());
        upstream->read_head();
        upstream->send(ok);
        CHECK(read_response(client).ends_with("\r\n\r\nhi"));
    }

    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    std::optional<Wire> upstream;

  private:
    void ask() {
        client.send(request_);
        upstream.emplace(gateway.upstream.accept());
        upstream->read_head();
    }

    std::string_view request_;
};

} // namespace stint::test
