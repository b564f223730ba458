// The buffer between a worker and the access log's writer thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace stint::observe {

// The lines of one worker that the writer thread has not taken yet. Thread-safe. The lock is held
// only to append or to swap.
class LineBuffer {
  public:
    static constexpr std::size_t capacity = 1024UL * 1024;  // bytes
    static constexpr std::size_t urgent_size = 64UL * 1024; // bytes; wakes the writer at once

    enum class Added : std::uint8_t { no_room, yes, urgent };

    [[nodiscard]] Added add(std::string_view line) {
        const std::lock_guard lock{mutex_};
        const std::size_t before = lines_.size();
        if (before + line.size() > capacity)
            return Added::no_room;
        lines_ += line;
        return before < urgent_size && lines_.size() >= urgent_size ? Added::urgent : Added::yes;
    }

    void swap(std::string& empty) {
        const std::lock_guard lock{mutex_};
        lines_.swap(empty);
    }

    [[nodiscard]] bool empty() {
        const std::lock_guard lock{mutex_};
        return lines_.empty();
    }

  private:
    std::mutex mutex_;
    std::string lines_;
};

} // namespace stint::observe
