#include "allocations.hpp"

#include <cstdlib>
#include <execinfo.h>
#include <new>
#include <unistd.h>

namespace stint::test {
namespace {

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

void begin_counting() noexcept {
    allocations = 0;
    counting = true;
}

std::size_t end_counting() noexcept {
    counting = false;
    return allocations;
}

} // namespace stint::test

// The standard library's other forms come down to these.
void* operator new(std::size_t size) {
    return stint::test::allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return stint::test::allocate(size, static_cast<std::size_t>(alignment));
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
