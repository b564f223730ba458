// Follows where the frames of HTTP/2 begin and end in what a client sends (RFC 9113 section 4.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stint::server {

// Counts parts that have to come whole: the preface, each frame, and the frames of one block of
// fields together. What the frames mean is not looked at. Not thread-safe.
class FrameProgress {
  public:
    // Takes bytes that the client has sent, from the connection's first byte on.
    void take(std::span<const char> bytes) noexcept;

    // True while a part has begun and its end has not come. DATA count only with `data`.
    [[nodiscard]] bool unfinished(bool data) const noexcept {
        return in_block_ || (in_frame() && (data || !is_data_));
    }
    // The number of the part that began last, and its bytes so far.
    [[nodiscard]] std::uint64_t part() const noexcept { return part_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  private:
    static constexpr std::size_t preface_size = 24;
    static constexpr std::size_t frame_head_size = 9;

    [[nodiscard]] bool in_frame() const noexcept {
        return size_ > 0 && (payload_left_ > 0 || head_size_ > 0);
    }
    void read_head() noexcept;

    std::uint64_t part_ = 0;
    std::uint64_t size_ = 0;
    std::size_t payload_left_ = preface_size; // bytes to come of the present frame
    std::array<std::uint8_t, frame_head_size> head_{};
    std::uint8_t head_size_ = 0; // bytes of the next frame's head that have come
    bool is_data_ = false;
    bool in_block_ = false; // CONTINUATION has to come
};

} // namespace stint::server
