#include "server/tunnel.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <exception>

namespace stint::server {

Tunnel::Tunnel(
    Loop& loop, ClientStream* stream, net::ByteEnd& client, net::Stream& upstream, Duration idle)
    : loop_{loop}, stream_{stream}, idle_{idle}, upstream_{upstream}, up_{client, upstream_,
                                                                          End::client_failed,
                                                                          End::upstream_failed},
      down_{upstream_, client, End::upstream_failed, End::client_failed} {}

net::Task<> Tunnel::run(std::string_view early, net::Block& block, std::size_t size) {
    carries_up_ = true;
    try {
        net::spawn(loop_.executor, carry_up(*this, early));
    } catch (...) {
        carries_up_ = false; // no coroutine runs that would reset it
        throw;
    }
    co_await carry_early(down_, {block.data(), size});
    block.release();
    co_await carry(down_);
    co_await join();
}

// Relays from client to upstream in a coroutine of its own. run() waits for its end.
net::Task<> Tunnel::carry_up(Tunnel& self, std::string_view early) {
    try {
        co_await self.carry_early(self.up_, early);
        co_await self.carry(self.up_);
    } catch (const std::exception& failure) {
        if (self.loop_.totals.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a tunnel could not be relayed: {}", failure.what());
        self.end();
    }
    self.carries_up_ = false;
    self.carried_up_.signal();
}

net::Task<> Tunnel::join() {
    while (carries_up_)
        co_await carried_up_.wait();
}

net::Task<> Tunnel::carry_early(Way& way, std::string_view early) {
    touch();
    const bool sent = co_await deliver(way, early);
    way.more = sent;
}

net::Task<> Tunnel::carry(Way& way) {
    while (way.more)
        way.more = co_await carry_piece(way);
}

// Relays one piece. Waits or yields before each read, so that a sender that never pauses leaves
// time for other connections.
net::Task<bool> Tunnel::carry_piece(Way& way) {
    const ErrorCode failed = co_await way.from.readable(way.dry);
    if (over())
        co_return false;
    const net::Block block = loop_.body_blocks.borrow();
    const net::Received got = failed ? net::Received{failed} : way.from.read(block.span());
    way.dry = got.error == net::asio::error::would_block;
    if (way.dry)
        co_return true;
    if (got.error == net::asio::error::eof) {
        finish(way);
        co_return false;
    }
    if (got.error) {
        end(way.from_failed);
        co_return false;
    }
    touch();
    co_return co_await deliver(way, {block.data(), got.size});
}

// Sends all bytes one way. Returns false if the tunnel has ended.
net::Task<bool> Tunnel::deliver(Way& way, std::string_view bytes) {
    net::Gather gather;
    gather.add(bytes);
    for (;;) {
        const std::size_t before = gather.bytes();
        ErrorCode error = way.to.write(gather);
        way.bytes += before - gather.bytes();
        if (gather.bytes() < before)
            touch();
        if (!error && gather.empty())
            break;
        if (!error) {
            way.reads = false;
            watch();
            const ErrorCode failed = co_await way.to.writable();
            error = failed;
        }
        if (over())
            co_return false;
        if (error) {
            end(way.to_failed);
            co_return false;
        }
    }
    way.reads = true;
    watch();
    co_return true;
}

// Ends one way: the sender has closed its side, and all that it sent before has been passed on.
void Tunnel::finish(Way& way) noexcept {
    way.to.shutdown_send();
    way.reads = false;
    watch();
    if (ended_ways_++ > 0)
        end(End::closed);
}

void Tunnel::end(End why) noexcept {
    if (over())
        return;
    end_ = why;
    disarm();
    // A reset tells the upstream that the client's stream broke off and did not end.
    up_.to.close(why == End::client_failed);
    down_.to.cancel();
}

void Tunnel::poll_peer_close() noexcept {
    if (over())
        return;
    if (up_.from.was_reset())
        end(End::client_failed);
    else if (down_.from.was_reset())
        end(End::upstream_failed);
}

// Turns on polling for a reset while a way does not read: otherwise no pending read would report
// it.
void Tunnel::watch() {
    if (stream_ != nullptr)
        stream_->watch_for_reset(!up_.reads || !down_.reads);
}

void Tunnel::touch() {
    loop_.deadlines.arm(*this, idle_, net::read_coarse_clock());
}

void Tunnel::on_deadline() noexcept {
    end(End::idle);
}

} // namespace stint::server
