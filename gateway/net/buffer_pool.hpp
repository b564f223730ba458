// Blocks of one size, borrowed while a message is under way: an idle connection holds none.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace stint::net {

class BufferPool;

// A borrowed block; destroying it gives it back. Empty when default-made or moved from.
class Block {
  public:
    Block() = default;
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;
    ~Block() { release(); }

    explicit operator bool() const noexcept { return bytes_ != nullptr; }
    [[nodiscard]] char* data() const noexcept { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] std::span<char> span() const noexcept { return {data(), size()}; }
    void release() noexcept;

  private:
    friend class BufferPool;
    Block(std::unique_ptr<char[]> bytes, BufferPool& pool)
        : bytes_{std::move(bytes)}, pool_{&pool} {}

    std::unique_ptr<char[]> bytes_;
    BufferPool* pool_ = nullptr;
};

// One per worker and size, not thread-safe; outlives its blocks. Keeps up to `keep` free blocks,
// the last one returned is the next one lent (its pages are warm).
class BufferPool {
  public:
    BufferPool(std::size_t block_size, std::size_t keep) : block_size_{block_size}, keep_{keep} {}

    [[nodiscard]] Block borrow();
    [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }

  private:
    friend class Block;
    void give_back(std::unique_ptr<char[]> bytes) noexcept;

    std::size_t block_size_;
    std::size_t keep_;
    std::vector<std::unique_ptr<char[]>> free_;
};

} // namespace stint::net
