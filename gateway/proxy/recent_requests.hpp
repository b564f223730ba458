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

// Plain data of one worker. Bounded: the oldest makes room for the next. Names are slots of
// observe::MetricSlots, which stay the same over reloads.
class RecentRequests {
  public:
    static constexpr std::size_t capacity = 2048;
    static constexpr std::size_t most_keys = 4;     // per request; more are not kept
    static constexpr std::size_t longest_text = 43; // bytes of a key; a longer one is cut

    enum class Kind : std::uint8_t { admitted, refused, denied };

    class Key {
      public:
        std::uint32_t limit = 0; // refusal slot
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
        std::uint32_t decided_by = 0; // refusal slot; unless admitted
        Kind kind = Kind::admitted;
        std::uint8_t key_count = 0;
        std::array<Key, most_keys> keys;
    };

    RecentRequests();

    // Returns the request's number, for end(). Its keys are added before the next begin().
    std::uint64_t begin(std::string_view request_id, WallTime at, std::uint32_t route) noexcept;
    void add_key(std::uint32_t limit, Hash128 hash, std::string_view text) noexcept;
    // Notes the outcome of a request that was not admitted, whenever it is known.
    void
    end(std::uint64_t number, Kind kind, std::uint32_t decided_by, Duration retry_after) noexcept;

    // Returns the last request with that id.
    [[nodiscard]] std::optional<Record> find(std::string_view request_id) const noexcept;

  private:
    std::unique_ptr<Record[]> records_; // untouched, so not resident, before it is used
    std::uint64_t begun_ = 0;
    Record* newest_ = nullptr;
};

} // namespace stint::proxy
