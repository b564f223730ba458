// Room for one pending operation inside its owner, so that starting it again allocates nothing.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace stint::net {

// Has room for one pending operation, which it must outlive. A second or a larger operation is
// allocated on the heap.
class HandlerMemory {
  public:
    HandlerMemory() = default;
    HandlerMemory(const HandlerMemory&) = delete;
    HandlerMemory& operator=(const HandlerMemory&) = delete;

    void* take(std::size_t size) {
        if (in_use_ || size > sizeof room_)
            return ::operator new(size);
        in_use_ = true;
        return room_;
    }

    void give_back(void* memory) noexcept {
        if (memory == room_)
            in_use_ = false;
        else
            ::operator delete(memory);
    }

    // True while the operation is being started: see DeferredReadBuffer.
    bool starting = false;

  private:
    alignas(
        std::max_align_t) std::byte room_[144]; // Asio's read operation with a small handler: 136
    bool in_use_ = false;
};

// A handler's associated allocator, which takes memory from a HandlerMemory. Asio prescribes the
// names of the members.
template <class T>
class InPlaceAllocator {
  public:
    using value_type = T;

    explicit InPlaceAllocator(HandlerMemory& memory) noexcept : memory_{&memory} {}
    template <class U>
    InPlaceAllocator(const InPlaceAllocator<U>& other) noexcept : memory_{other.memory_} {}

    T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(sizeof(T) * count)); }
    void deallocate(T* memory, std::size_t) noexcept { memory_->give_back(memory); }

    friend bool operator==(const InPlaceAllocator&, const InPlaceAllocator&) = default;

  private:
    template <class>
    friend class InPlaceAllocator;
    HandlerMemory* memory_;
};

template <class Function>
class InPlaceHandler {
  public:
    using allocator_type = InPlaceAllocator<char>;

    InPlaceHandler(HandlerMemory& memory, Function function)
        : memory_{&memory}, function_{std::move(function)} {}

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{*memory_}; }

    template <class... Arguments>
    void operator()(Arguments&&... arguments) {
        function_(std::forward<Arguments>(arguments)...);
    }

  private:
    HandlerMemory* memory_;
    Function function_;
};

template <class Function>
[[nodiscard]] InPlaceHandler<Function> in_place(HandlerMemory& memory, Function function) {
    return {memory, std::move(function)};
}

} // namespace stint::net
