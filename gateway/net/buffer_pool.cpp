#include "net/buffer_pool.hpp"

#include <utility>

namespace stint::net {

Block::Block(Block&& other) noexcept
    : bytes_{std::move(other.bytes_)}, pool_{std::exchange(other.pool_, nullptr)} {}

Block& Block::operator=(Block&& other) noexcept {
    if (this != &other) {
        release();
        bytes_ = std::move(other.bytes_);
        pool_ = std::exchange(other.pool_, nullptr);
    }
    return *this;
}

std::size_t Block::size() const noexcept {
    return bytes_ ? pool_->block_size() : 0;
}

void Block::release() noexcept {
    if (bytes_)
        pool_->give_back(std::move(bytes_));
}

Block BufferPool::borrow() {
    if (free_.capacity() == 0)
        free_.reserve(keep_);
    if (free_.empty())
        return {std::make_unique_for_overwrite<char[]>(block_size_), *this};
    std::unique_ptr<char[]> bytes = std::move(free_.back());
    free_.pop_back();
    return {std::move(bytes), *this};
}

void BufferPool::give_back(std::unique_ptr<char[]> bytes) noexcept {
    if (free_.size() < keep_)
        free_.push_back(std::move(bytes)); // within the reserved capacity
}

} // namespace stint::net
