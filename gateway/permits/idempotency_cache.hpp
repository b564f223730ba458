// Grants that can be replayed: a client whose reply got lost repeats its request with the same
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

// The content of a grant's reply, except for members that depend on the current time.
struct Grant {
    struct Limit {
        std::uint64_t quota = 0;
        std::uint64_t remaining = 0;
        SteadyTime more_at{}; // when `remaining` rises next; the epoch: the counter is unused
    };
    boost::container::small_vector<Limit, 1> limits; // in the order of the request
    Duration waited{};
    std::uint64_t count = 0; // a batch's permits, else 0
    Hash128 permit{};        // the ticket for a proxied request; zero: none
};

// One for all workers; remembers the latest `most` grants. Threads: any.
class IdempotencyCache {
  public:
    static constexpr std::size_t most = 65'536;

    // The exclusive right to answer the request with one idempotency_key. Destroying a claim
    // without record() removes its entry, as if the request had never come.
    class Claim {
      public:
        Claim() = default;
        Claim(Claim&& other) noexcept;
        Claim& operator=(Claim&& other) noexcept;
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        ~Claim() { drop(); }

        explicit operator bool() const noexcept { return replays_ != nullptr; }
        // Records the grant and ends the claim. begin() returns the grant to repeated requests
        // until `expires`, the end of the window that was charged.
        void record(const Grant& grant, SteadyTime expires);

      private:
        friend class IdempotencyCache;
        Claim(IdempotencyCache& cache, Hash128 key) noexcept : replays_{&cache}, key_{key} {}
        void drop() noexcept;

        IdempotencyCache* replays_ = nullptr;
        Hash128 key_{};
    };

    enum class Conflict : std::uint8_t {
        other_request, // the key was used for a different request
        in_progress    // the first request with the key is still being answered
    };
    // Begins a request. Returns the Claim to answer it, or an earlier Grant to replay. key: hash of
    // the idempotency_key and its owner. request: hash of all that the request asks for.
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
        std::list<Hash128>::iterator age; // its place in by_age_, unless pending
    };
    void forget(Hash128 key) noexcept;

    std::mutex mutex_;
    std::unordered_map<Hash128, Entry, Spread> entries_;
    std::list<Hash128> by_age_; // keys of the recorded entries, the oldest first
};

} // namespace stint::permits
