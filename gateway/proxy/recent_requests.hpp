// The last requests that limits decided on, by their X-Request-Id: the data behind POST /explain.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace stint::proxy {

// Ring buffer of one worker, used on its thread alone: a new request replaces the oldest. Routes
// and limits are recorded by their slots in observe::MetricSlots, which stay the same over reloads.
class RecentRequests {
  public:
    static constexpr std::size_t capacity = 2048;
    static constexpr std::size_t most_keys = 4;     // per request; further keys are not kept
    static constexpr std::size_t longest_text = 43; // bytes of a key's text; the rest is cut

    enum class Kind : std::uint8_t { admitted, refused, denied };

    class Key {
      public:
        std::uint32_t limit = 0; // slot of the limit's refusals
        Hash128 hash;

        [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }
        [[nodiscard]] bool cut() const noexcept { return cut_; }

      private:
        friend class RecentRequests;
        std::uint8_t size_ = 0;
        bool cut_ = false;
        std::array<char, longest_text> text_{};
    };
    struct Record {
        std::uint64_t id = 0; // hash of the X-Request-Id
        WallTime at{};
        Duration retry_after{};
        std::uint32_t route = 0;
        std::uint32_t decided_by = 0; // slot of the limit or fence that refused; unused if admitted
        Kind kind = Kind::admitted;
        std::uint8_t key_count = 0;
        std::array<Key, most_keys> keys;
    };

    RecentRequests();

    // Begins a record. Returns its number, for end(). add_key() adds to the newest record: call it
    // before the next begin().
    std::uint64_t begin(std::string_view request_id, WallTime at, std::uint32_t route) noexcept;
    void add_key(std::uint32_t limit, Hash128 hash, std::string_view text) noexcept;
    // Records the outcome of a request that was refused or denied, at any time after begin().
    void
    end(std::uint64_t number, Kind kind, std::uint32_t decided_by, Duration retry_after) noexcept;

    // Returns the newest record of that id; nothing if no record of it is left.
    [[nodiscard]] std::optional<Record> find(std::string_view request_id) const noexcept;
    // Calls visit(const Record&) for each record that is left, the newest first.
    template <class Visit>
    void visit_newest(Visit visit) const {
        const std::uint64_t oldest = begun_ > capacity ? begun_ - capacity : 0;
        for (std::uint64_t number = begun_; number-- > oldest;)
            visit(records_[number % capacity]);
    }

  private:
    std::unique_ptr<Record[]> records_; // not initialised, so that unused pages take no memory
    std::uint64_t begun_ = 0;
    Record* newest_ = nullptr;
};

} // namespace stint::proxy
