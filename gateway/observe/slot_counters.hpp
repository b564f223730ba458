// The counters of one kind, by slot. Slots that were never written take no memory: of many thousand
// routes, most are seldom requested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace stint::observe {

// An array that begins with zeros and grows. Only pages with an element that was written to are
// resident. T: zero bytes are its initial value.
template <class T>
class SlotCounters {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    SlotCounters() = default;
    SlotCounters(const SlotCounters& other) { *this += other; }
    SlotCounters(SlotCounters&& other) noexcept { swap(other); }
    SlotCounters& operator=(SlotCounters other) noexcept {
        swap(other);
        return *this;
    }
    ~SlotCounters() {
        if (slots_ != nullptr)
            ::munmap(slots_, bytes_of(size_));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t slot) noexcept { return slots_[slot]; }
    [[nodiscard]] const T& operator[](std::size_t slot) const noexcept { return slots_[slot]; }
    [[nodiscard]] const T* begin() const noexcept { return slots_; }
    [[nodiscard]] const T* end() const noexcept { return slots_ + size_; }

    // Grows to `size` slots; no effect if there are as many already. May move the slots. Throws
    // std::bad_alloc.
    void grow(std::size_t size) {
        if (size <= size_)
            return;
        const std::size_t bytes = bytes_of(size);
        void* const mapped =
            slots_ == nullptr
                ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                : ::mremap(slots_, bytes_of(size_), bytes, MREMAP_MAYMOVE);
        if (mapped == MAP_FAILED)
            throw std::bad_alloc{};
        // A huge page would be resident as a whole. Advice that the system does not know is no
        // failure.
        ::madvise(mapped, bytes, MADV_NOHUGEPAGE);
        slots_ = static_cast<T*>(mapped);
        size_ = size;
    }

    SlotCounters& operator+=(const SlotCounters& more) {
        grow(more.size_);
        const T none{};
        for (std::size_t i = 0; i < more.size_; ++i)
            if (std::memcmp(&more.slots_[i], &none, sizeof(T)) != 0)
                slots_[i] += more.slots_[i];
        return *this;
    }

  private:
    [[nodiscard]] static std::size_t bytes_of(std::size_t size) noexcept {
        constexpr std::size_t page = 4096; // a larger one does no harm: the system rounds up
        return (size * sizeof(T) + page - 1) / page * page;
    }
    void swap(SlotCounters& other) noexcept {
        std::swap(slots_, other.slots_);
        std::swap(size_, other.size_);
    }

    T* slots_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace stint::observe
