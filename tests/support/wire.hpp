// Raw ends of connections for tests: exact bytes, no HTTP. Whoever waits runs the event loop
// meanwhile, so gateway, client and upstream take turns on one thread and tests read as a story.
#pragma once

#include "net/acceptor.hpp"
#include "net/types.hpp"
#include "tls_end.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace stint::test {

// Runs `loop` until `done` says so. A test that has waited for 20 s has failed.
void run_until(
    net::asio::io_context& loop,
    const std::function<bool()>& done,
    std::source_location where = std::source_location::current());

// One end of a connection. Destroying it closes it, without TLS's good-bye.
class Wire {
  public:
    Wire(net::asio::io_context& loop, Descriptor socket);

    // Connects; refused is an error of the test. A narrow one has a small window, as over a
    // network.
    static Wire
    connect(net::asio::io_context& loop, const net::Endpoint& address, bool narrow = false);

    // From now on over TLS. A client's handshake is complete then; a server's takes place while it
    // reads.
    void begin_tls_as_client(std::source_location where = std::source_location::current());
    void begin_tls_as_server();

    void send(std::string_view bytes, std::source_location where = std::source_location::current());

    // As much as goes at once; 0 when the peer does not read.
    std::size_t send_some(std::string_view bytes) noexcept;

    // Everything up to and with `end`; what comes behind it stays for the next call.
    std::string
    read_until(std::string_view end, std::source_location where = std::source_location::current());
    // A head with its empty line.
    std::string read_head(std::source_location where = std::source_location::current()) {
        return read_until("\r\n\r\n", where);
    }
    std::string
    read(std::size_t size, std::source_location where = std::source_location::current());
    // The rest, once the peer has closed its side; an empty text if it was reset.
    std::string read_to_end(std::source_location where = std::source_location::current());

    // What has come in by now and was not read.
    std::string_view received();
    // Whether the peer has closed or reset the connection by now.
    bool closed();
    // Whether it ended by a reset, of a bare connection.
    [[nodiscard]] bool was_reset() const noexcept { return reset_; }
    void wait_closed(std::source_location where = std::source_location::current());

    void shutdown_send() noexcept;
    // On a Unix socket: what the peer sends from now on fails there with EPIPE.
    void shutdown_receive() noexcept;
    // The peer's socket, in this process, takes some 20 KB at once beside what fits into the
    // window.
    void narrow_peer() noexcept;
    void reset() noexcept; // closes so that the peer sees a reset
    void close() noexcept;

  private:
    void take();
    [[nodiscard]] std::ptrdiff_t put(std::string_view bytes) noexcept;

    net::asio::io_context* loop_;
    Descriptor socket_;
    std::unique_ptr<TlsEnd> tls_;
    std::string buffer_;
    bool ended_ = false;
    bool reset_ = false;
};

// A listening end: an upstream that does what its test says.
class ListeningWire {
  public:
    explicit ListeningWire(net::asio::io_context& loop);
    ListeningWire(net::asio::io_context& loop, const net::Endpoint& address);

    [[nodiscard]] const net::Endpoint& address() const noexcept { return address_; }
    [[nodiscard]] std::string text() const; // "127.0.0.1:PORT", "unix:/path"
    Wire accept(std::source_location where = std::source_location::current());
    // From now on connections have a small window, as over a network.
    void narrow() noexcept;
    // The sockets that are connected to it take some 20 KB at once, where loopback's take
    // megabytes.
    void narrow_callers() noexcept;
    // Whether a connection waits to be accepted.
    [[nodiscard]] bool called() const;
    void close() noexcept { socket_ = {}; }

  private:
    net::asio::io_context& loop_;
    net::Endpoint address_;
    Descriptor socket_;
};

// An address where nobody listens, nor will as long as this lives: its port is taken.
class RefusingAddress {
  public:
    RefusingAddress();

    [[nodiscard]] const net::Endpoint& address() const noexcept { return address_; }

  private:
    net::Endpoint address_;
    Descriptor socket_;
};

} // namespace stint::test
