// Blocks of one size, borrowed while a message is read or sent: an idle connection holds none.
#pragma once

#include <cstddef>
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
    [[nodiscard]] char* data() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] std::span<char> span() const noexcept { return {data(), size()}; }
    void release() noexcept;

  private:
    friend class BufferPool;
    Block(char* bytes, BufferPool& pool) : bytes_{bytes}, pool_{&pool} {}

    char* bytes_ = nullptr;
    BufferPool* pool_ = nullptr;
};

// One per worker and size, not thread-safe; outlives its blocks. The block returned last is the
// next one lent (its pages are warm). Blocks have pages of their own, outside the heap: on the
// heap, freed large blocks between small objects would leave holes whose memory cannot be
// reclaimed.
class BufferPool {
  public:
    // keep: number of unused blocks that keep their memory.
    BufferPool(std::size_t block_size, std::size_t keep);
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;
    ~BufferPool();

    // Throws std::bad_alloc.
    [[nodiscard]] Block borrow();
    [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }

    // Gives the memory of blocks that were not needed since the last call back to the system,
    // except for `keep` blocks. Called about every second.
    void trim() noexcept;

    // Returns the number of blocks that are lent or keep their memory.
    [[nodiscard]] std::size_t held() const noexcept { return total_ - cold_.size(); }

  private:
    friend class Block;
    void give_back(char* bytes) noexcept;
    void add_slab();

    std::size_t block_size_;
    std::size_t stride_; // bytes from one block to the next: whole pages
    std::size_t keep_;
    std::size_t total_ = 0;       // blocks in all slabs
    std::size_t fewest_warm_ = 0; // smallest size of warm_ since the last trim()
    std::vector<char*> slabs_;
    std::vector<char*> warm_; // free, with memory; the last one used is at the back
    std::vector<char*> cold_; // free, without memory
};

} // namespace stint::net
