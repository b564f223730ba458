#include "net/buffer_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <sanitizer/asan_interface.h> // its macros are empty without the sanitizer
#include <sys/mman.h>
#include <utility>

namespace stint::net {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t blocks_in_slab = 64;

// Blocks begin at different places of their first page. Otherwise the beginnings of all blocks
// would compete for a few lines of the processor's cache.
constexpr std::size_t colours = 16;
constexpr std::size_t colour_size = 128;

constexpr std::size_t whole_pages(std::size_t size) {
    return (size + page - 1) / page * page;
}

} // namespace

Block::Block(Block&& other) noexcept
    : bytes_{std::exchange(other.bytes_, nullptr)}, pool_{std::exchange(other.pool_, nullptr)} {}

Block& Block::operator=(Block&& other) noexcept {
    if (this != &other) {
        release();
        bytes_ = std::exchange(other.bytes_, nullptr);
        pool_ = std::exchange(other.pool_, nullptr);
    }
    return *this;
}

std::size_t Block::size() const noexcept {
    return bytes_ != nullptr ? pool_->block_size() : 0;
}

void Block::release() noexcept {
    if (bytes_ != nullptr)
        pool_->give_back(std::exchange(bytes_, nullptr));
}

BufferPool::BufferPool(std::size_t block_size, std::size_t keep)
    : block_size_{block_size}, stride_{whole_pages(block_size + (colours - 1) * colour_size)},
      keep_{keep} {}

BufferPool::~BufferPool() {
    for (char* const slab : slabs_) {
        ASAN_UNPOISON_MEMORY_REGION(slab, blocks_in_slab * stride_);
        ::munmap(slab, blocks_in_slab * stride_);
    }
}

Block BufferPool::borrow() {
    if (warm_.empty() && cold_.empty())
        add_slab();
    std::vector<char*>& from = warm_.empty() ? cold_ : warm_;
    char* const bytes = from.back();
    from.pop_back();
    fewest_warm_ = std::min(fewest_warm_, warm_.size());
    ASAN_UNPOISON_MEMORY_REGION(bytes, block_size_);
    return {bytes, *this};
}

void BufferPool::give_back(char* bytes) noexcept {
    ASAN_POISON_MEMORY_REGION(bytes, block_size_);
    warm_.push_back(bytes); // within the reserved capacity
}

void BufferPool::trim() noexcept {
    const std::size_t spare = std::exchange(fewest_warm_, warm_.size());
    if (spare <= keep_)
        return;
    const auto end = warm_.begin() + static_cast<std::ptrdiff_t>(spare - keep_);
    std::for_each(warm_.begin(), end, [this](char* bytes) {
        char* const first_page = bytes - reinterpret_cast<std::uintptr_t>(bytes) % page;
        ::madvise(first_page, stride_, MADV_DONTNEED);
        cold_.push_back(bytes); // within the reserved capacity
    });
    warm_.erase(warm_.begin(), end);
    fewest_warm_ = warm_.size();
}

// Adds blocks. Their pages take no memory until they are written to.
void BufferPool::add_slab() {
    slabs_.reserve(slabs_.size() + 1);
    warm_.reserve(total_ + blocks_in_slab);
    cold_.reserve(total_ + blocks_in_slab);
    const std::size_t size = blocks_in_slab * stride_;
    void* const slab =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED)
        throw std::bad_alloc{};
    ::madvise(slab, size, MADV_NOHUGEPAGE); // most blocks are used only on their first page
    ASAN_POISON_MEMORY_REGION(slab, size);
    slabs_.push_back(static_cast<char*>(slab));
    total_ += blocks_in_slab;
    for (std::size_t i = blocks_in_slab; i > 0; --i)
        cold_.push_back(slabs_.back() + (i - 1) * stride_ + (i % colours) * colour_size);
}

} // namespace stint::net
