// Once warm, a request costs no memory: neither one that is relayed nor one that is refused.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <execinfo.h>
#include <new>
#include <unistd.h>

namespace {

// Of this thread, while it counts: the access log's writer is none of a request's business.
thread_local bool counting = false;
thread_local std::size_t allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
    if (counting) {
        ++allocations;
        counting = false; // what follows may allocate itself
        void* frames[40];
        ::backtrace_symbols_fd(frames, ::backtrace(frames, 40), STDERR_FILENO);
        counting = true;
    }
    void* memory =
        alignment > 0
            ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
            : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr)
        throw std::bad_alloc{};
    return memory;
}

} // namespace

void* operator new(std::size_t size) {
    return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace {

using namespace stint::test;

// Counts what the gateway allocates from now until the end of the scope; the test's own ends wait
// outside of it.
class Counting {
  public:
    Counting() { allocations = 0, counting = true; }
    ~Counting() { counting = false; }
};

} // namespace

TEST_CASE("the counter counts") {
    allocations = 0;
    {
        const Counting here;
        ::operator delete(::operator new(8));
    }
    CHECK(allocations == 1);
}

TEST_CASE("a warm GET over kept connections allocates nothing") {
    InProcessGateway gateway{
        "limits: {many: {requests: 1000000, per: 1h, key: client_ip}, slot: {concurrent: 10}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [many, slot]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        if (round > 0)
            client.send(get);
        {
            const Counting here;
            counting = round >= 10;
            gateway.settle();
        }
        warm += allocations;
        upstream.read_head();
        upstream.send(ok);
        {
            const Counting here;
            counting = round >= 10;
            gateway.settle();
        }
        warm += allocations;
        read_response(client);
    }

    CHECK(warm == 0);
    CHECK(gateway.to_upstream().connects == 1);
}

TEST_CASE("a warm 429 allocates nothing") {
    InProcessGateway gateway{
        "limits: {budget: {requests: 1, per: 1h, key: client_ip}}\n"
        "routes: [{name: all, match: {path: /}, upstream: origin, limits: [budget]}]"};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    upstream.send(ok);
    read_response(client);
    std::size_t warm = 0;
    for (int round = 0; round < 20; ++round) {
        client.send(get);
        {
            const Counting here;
            counting = round >= 10;
            gateway.settle();
        }
        warm += allocations;
        CHECK(client.read_until("}\n").starts_with("HTTP/1.1 429 "));
    }

    CHECK(warm == 0);
}
