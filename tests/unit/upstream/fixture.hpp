// A pool and the far ends of its connections.
#pragma once

#include "net/address.hpp"
#include "net/io.hpp"
#include "upstream/http1_upstream_stream.hpp"
#include "upstream/pool.hpp"
#include "wire.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace stint::upstream::test {

using namespace std::chrono_literals;
using stint::test::ListeningWire;
using stint::test::RefusingAddress;
using stint::test::Wire;

inline SteadyTime at(Duration since_start) {
    return SteadyTime{1'000'000s} + since_start;
}

inline net::Task<> connect(Lease& lease, std::optional<ErrorCode>& result) {
    const Lease::Connected connected = co_await lease.connect();
    result = connected.error;
}

// Connects and returns what came of it.
inline ErrorCode connect(net::asio::io_context& loop, Lease& lease) {
    std::optional<ErrorCode> result;
    net::spawn(loop.get_executor(), connect(lease, result));
    stint::test::run_until(loop, [&] { return result.has_value(); });
    return *result;
}

// A worker's.
inline Http1Buffers& buffers() {
    struct Buffers {
        net::BufferPool blocks{4096, 4};
        http::HeadBuffer head;
        http::HeadParser parser{4096};
        Http1Buffers all{blocks, head, parser};
    };
    static Buffers buffers;
    return buffers.all;
}

struct Origin {
    // A connected lease and its far end.
    std::pair<Lease, Wire> open() {
        Lease lease = pool.make_new(loop.get_executor());
        if (connect(loop, lease))
            throw std::runtime_error{"a lease could not connect"};
        Wire far = listening.accept();
        return {std::move(lease), std::move(far)};
    }

    net::asio::io_context loop;
    ListeningWire listening{loop};
    Pool pool{"origin", {listening.address()}};
};

} // namespace stint::upstream::test
