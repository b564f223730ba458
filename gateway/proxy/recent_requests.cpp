#include "proxy/recent_requests.hpp"

#include <algorithm>
#include <cstring>

namespace stint::proxy {
namespace {

// Hashes eight bytes at a time, at a third of the cost of std::hash(), because every request with
// limits is recorded. If two ids collide, find() returns the newer request.
std::uint64_t id_of(std::string_view request_id) noexcept {
    constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    std::uint64_t id = request_id.size();
    const auto mix = [&id](std::uint64_t word) {
        id = (id ^ word) * odd;
        id ^= id >> 32;
    };
    std::uint64_t word = 0;
    for (; request_id.size() >= sizeof word; request_id.remove_prefix(sizeof word)) {
        std::memcpy(&word, request_id.data(), sizeof word);
        mix(word);
    }
    word = 0;
    for (const char c : request_id)
        word = word << 8 | static_cast<unsigned char>(c);
    mix(word);
    return id;
}

} // namespace

RecentRequests::RecentRequests() : records_{std::make_unique_for_overwrite<Record[]>(capacity)} {}

std::uint64_t
RecentRequests::begin(std::string_view request_id, WallTime at, std::uint32_t route) noexcept {
    newest_ = &records_[begun_ % capacity];
    newest_->id = id_of(request_id);
    newest_->at = at;
    newest_->route = route;
    newest_->kind = Kind::admitted;
    newest_->key_count = 0;
    return begun_++;
}

void RecentRequests::add_key(std::uint32_t limit, Hash128 hash, std::string_view text) noexcept {
    if (newest_->key_count == most_keys)
        return;
    Key& key = newest_->keys[newest_->key_count++];
    key.limit = limit;
    key.hash = hash;
    key.cut_ = text.size() > longest_text;
    key.size_ = static_cast<std::uint8_t>(std::min(text.size(), longest_text));
    std::copy_n(text.data(), key.size_, key.text_.data());
}

void RecentRequests::end(
    std::uint64_t number, Kind kind, std::uint32_t decided_by, Duration retry_after) noexcept {
    if (begun_ - number > capacity)
        return; // newer requests have overwritten the record
    Record& record = records_[number % capacity];
    record.kind = kind;
    record.decided_by = decided_by;
    record.retry_after = retry_after;
}

std::optional<RecentRequests::Record>
RecentRequests::find(std::string_view request_id) const noexcept {
    const std::uint64_t wanted = id_of(request_id);
    const std::uint64_t oldest = begun_ > capacity ? begun_ - capacity : 0;
    for (std::uint64_t number = begun_; number-- > oldest;)
        if (const Record& record = records_[number % capacity]; record.id == wanted)
            return record;
    return std::nullopt;
}

} // namespace stint::proxy
