// Ends of connections over TLS, for tests that say how records are cut and put together.
#pragma once

#include "fixture.hpp"
#include "sealed_end.hpp"
#include "tls/client.hpp"
#include "tls/server.hpp"
#include "tls_end.hpp"

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace stint::test {

// A gateway of which both sides speak TLS.
struct SealedGateway : InProcessGateway {
    explicit SealedGateway(std::string_view yaml = plain)
        : InProcessGateway{yaml, server::ListenerOptions{.tls = tls_server()}} {}
};

class SealedWire {
  public:
    SealedWire(SealedGateway& of, Wire bare, tls::SslPtr ssl)
        : wire{std::move(bare)}, end{std::move(ssl)}, gateway_{&of} {
        take();
        until([this] { return end.complete(); });
    }
    static SealedWire client(SealedGateway& gateway) {
        return {gateway, gateway.connect(), tls_client()->connect("127.0.0.1")};
    }
    static SealedWire upstream(SealedGateway& gateway) {
        return {gateway, gateway.upstream.accept(), tls_server()->accept()};
    }

    void send(std::string_view text) { wire.send(end.seal(text)); }

    // What has come by now is in end.text.
    void take() {
        const std::string answer = end.take(wire.read(wire.received().size()));
        if (!answer.empty())
            wire.send(answer);
    }
    void until(
        const std::function<bool()>& done,
        std::source_location where = std::source_location::current()) {
        const auto take_and_ask = [&] {
            take();
            return done();
        };
        gateway_->run_until(take_and_ask, where);
    }
    // Everything up to and with `last`; what comes behind it stays for the next call.
    std::string read_until(
        std::string_view last, std::source_location where = std::source_location::current()) {
        until([&] { return has(end.text, last); }, where);
        const std::size_t size = end.text.find(last) + last.size();
        std::string bytes = end.text.substr(0, size);
        end.text.erase(0, size);
        return bytes;
    }
    std::string read_head(std::source_location where = std::source_location::current()) {
        return read_until("\r\n\r\n", where);
    }
    // The connection has ended, with TLS's own end or without.
    void wait_closed(std::source_location where = std::source_location::current()) {
        until([this] { return wire.closed(); }, where);
        take();
    }

    Wire wire;
    SealedEnd end;

  private:
    SealedGateway* gateway_;
};

} // namespace stint::test
