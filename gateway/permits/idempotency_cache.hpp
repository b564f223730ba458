// Grants that can be replayed: a caller whose reply got lost repeats its request with the same
// idempotency_key, and is charged once.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/limit.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <variant>

namespace stint::permits {

// A granted reply, except for what changes with time.
struct Grant {
    struct Limit {
        std::uint64_t quota = 0;
        std::uint64_t remaining = 0;
        SteadyTime more_at{}; // when more is left; the epoch: it was unused
    };
    boost::container::small_vector<Limit, 1> limits; // in the order of the request
    Duration waited{};
    std::uint64_t count = 0; // a batch's permits, else 0
    Hash128 permit{};        // to be shown with a proxied request; zero: none
};

// One for all workers; remembers `most` grants, the oldest give way. Threads: any.
class IdempotencyCache {
  public:
    static constexpr std::size_t most = 65'536;

    // The right to answer a request, exclusive while it lives. Destroyed without a record(), it
    // leaves the cache as if the request had never come.
    class Claim {
      public:
        Claim() = default;
        Claim(Claim&& other) noexcept;
        Claim& operator=(Claim&& other) noexcept;
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        ~Claim() { drop(); }

        explicit operator bool() const noexcept { return replays_ != nullptr; }
        // Records the grant. It is replayed until `expires`: when what was granted is over.
        void record(const Grant& grant, SteadyTime expires);

      private:
        friend class IdempotencyCache;
        Claim(IdempotencyCache& cache, Hash128 key) noexcept : replays_{&cache}, key_{key} {}
        void drop() noexcept;

        IdempotencyCache* replays_ = nullptr;
        Hash128 key_{};
    };

    enum class Conflict : std::uint8_t {
        other_request, // the key came with another request
        in_progress    // that request is still waiting for its answer
    };
    // Begins a request. key: hash of the idempotency_key and its owner. request: hash of all that
    // it asks for.
    [[nodiscard]] std::variant<Claim, Grant, Conflict>
    begin(Hash128 key, Hash128 request, SteadyTime now);

  private:
    struct Spread {
        std::size_t operator()(const Hash128& key) const noexcept {
            return static_cast<std::size_t>(key.low);
        }
    };
    struct Entry {
        Hash128 request;
        bool pending = true;
        SteadyTime expires{};
        Grant grant;
        std::list<Hash128>::iterator age; // once it is not pending
    };
    void forget(Hash128 key) noexcept;

    std::mutex mutex_;
    std::unordered_map<Hash128, Entry, Spread> entries_;
    std::list<Hash128> by_age_; // recorded entries
};

} // namespace stint::permits
