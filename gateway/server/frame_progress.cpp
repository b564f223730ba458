#include "server/frame_progress.hpp"

#include <algorithm>

namespace stint::server {

void FrameProgress::take(std::span<const char> bytes) noexcept {
    while (!bytes.empty()) {
        std::size_t taken = std::min(payload_left_, bytes.size());
        if (payload_left_ == 0) {
            if (head_size_ == 0 && !in_block_) {
                ++part_;
                size_ = 0;
            }
            taken = std::min(frame_head_size - head_size_, bytes.size());
            std::copy_n(bytes.begin(), taken, head_.begin() + head_size_);
            head_size_ = static_cast<std::uint8_t>(head_size_ + taken);
            is_data_ = false;
            if (head_size_ == frame_head_size)
                read_head();
        } else {
            payload_left_ -= taken;
        }
        size_ += taken;
        bytes = bytes.subspan(taken);
    }
}

void FrameProgress::read_head() noexcept {
    enum : std::uint8_t { data = 0, headers = 1, continuation = 9 };
    constexpr std::uint8_t end_headers = 4;
    const std::uint8_t type = head_[3];
    head_size_ = 0;
    payload_left_ = std::size_t{head_[0]} << 16U | std::size_t{head_[1]} << 8U | head_[2];
    is_data_ = type == data;
    if (type == headers || type == continuation)
        in_block_ = (head_[4] & end_headers) == 0;
}

} // namespace stint::server
