#include "server/received_bytes.hpp"

#include "http/head_parser.hpp"

#include <cstring>
#include <string_view>

namespace stint::server {

void ReceivedBytes::append(std::span<const char> bytes) noexcept {
    if (bytes.empty())
        return;
    std::memcpy(block_.data() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void ReceivedBytes::make_room(bool needed) noexcept {
    if (begin_ == 0)
        return;
    if (begin_ == end_)
        return clear();
    if (!needed)
        return;
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
}

void ReceivedBytes::skip_empty_line() noexcept {
    if (begin_ == end_ || block_.data()[begin_] != '\r') [[likely]]
        return;
    if (empty_line_passed_ || end_ - begin_ < 2 || scanned_ - begin_ > 1 ||
        std::memcmp(block_.data() + begin_, "\r\n", 2) != 0)
        return;
    begin_ += 2;
    scanned_ = begin_;
    empty_line_passed_ = true;
}

bool ReceivedBytes::find_head() noexcept {
    skip_empty_line();
    std::size_t scanned = scanned_ - begin_;
    head_size_ = http::find_head_end({block_.data() + begin_, end_ - begin_}, scanned);
    scanned_ = begin_ + scanned;
    return head_size_ > 0;
}

void ReceivedBytes::consume(std::size_t size) noexcept {
    begin_ += size;
    scanned_ = begin_;
    head_size_ = 0;
    empty_line_passed_ = false;
    skip_empty_line(); // with only an empty line left, the connection is idle
}

} // namespace stint::server
