#include "answer.hpp"

#include "body.hpp"
#include "fields.hpp"

#include <charconv>

namespace stint::bench {

void Answer::begin() {
    head_.clear();
    status_ = 0;
    length_ = body_ = 0;
    has_head_ = closes_ = false;
    intact_ = true;
}

bool Answer::take(std::string_view bytes) {
    if (!has_head_) {
        const auto searched = head_.size();
        head_.append(bytes);
        const auto end = head_.find("\r\n\r\n", searched > 3 ? searched - 3 : 0);
        if (end == std::string::npos)
            return true;
        bytes.remove_prefix(end + 4 - searched);
        head_.resize(end + 2);
        if (!read_head())
            return false;
        has_head_ = true;
    }
    if (bytes.size() > length_ - body_)
        return false;
    if (status_ == 200)
        intact_ = intact_ && bench::intact(bytes, body_);
    body_ += bytes.size();
    return true;
}

bool Answer::read_head() {
    constexpr std::string_view version = "HTTP/1.1 ";
    if (!head_.starts_with(version))
        return false;
    std::from_chars(head_.data() + version.size(), head_.data() + head_.size(), status_);
    closes_ = has_word(field(head_, "connection"), "close");
    const auto length = number(field(head_, "content-length"));
    length_ = length.value_or(0);
    return length.has_value();
}

} // namespace stint::bench
