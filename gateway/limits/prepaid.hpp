// Permits that are acquired beforehand and presented with a later request, which is not charged
// again for what they paid.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace stint::limits {

// Each permit is good for one request, until it expires. While `most` permits are unspent, none is
// issued. Ids cannot be guessed from one another: an id is a keyed hash of a number, under a key
// that hashes nothing else. Threads: any; one short lock. Outlives its claims.
class PrepaidPermits {
    struct Entry;

  public:
    static constexpr std::size_t most = 65'536;

    // One permit, claimed by one request exclusively. Destroying the claim without spend() gives
    // the permit back, which can be claimed again until it expires. Move-only; one owner at a time.
    class Claim {
      public:
        Claim() noexcept;
        Claim(Claim&& other) noexcept;
        Claim& operator=(Claim&& other) noexcept;
        Claim(const Claim&) = delete;
        Claim& operator=(const Claim&) = delete;
        ~Claim() { give_back(); }

        explicit operator bool() const noexcept { return entry_ != nullptr; }
        // Returns how much of the charge's cost the permit has paid, at most all of it: 0 for a
        // cap, and for any counter that the permit was not issued for.
        [[nodiscard]] std::uint64_t paid_of(const Charge& charge) const noexcept;
        [[nodiscard]] bool expired(SteadyTime now) const noexcept;
        // Spends the permit, because its request has been admitted. True if the permit was never
        // spent before; always false for a claim of look(). Requires: the claim has a permit.
        bool spend() noexcept;
        // Undoes spend() after the whole admission was given back. The permit may be claimed again.
        void take_back() noexcept;

      private:
        friend class PrepaidPermits;
        Claim(PrepaidPermits* owner, std::unique_ptr<Entry> entry) noexcept;
        void give_back() noexcept;

        PrepaidPermits* owner_ = nullptr; // nullptr: a claim of look(), which holds a copy
        std::unique_ptr<Entry> entry_;
        bool spent_ = false;
    };

    PrepaidPermits();
    PrepaidPermits(const PrepaidPermits&) = delete;
    PrepaidPermits& operator=(const PrepaidPermits&) = delete;
    ~PrepaidPermits();

    // Issues a permit for charges that have been made. It pays for windows and buckets, not for
    // caps. Returns nothing if `most` permits are unspent, if no window was charged, if `expires`
    // has passed, or without memory. expires: no later than the end of the first of the charged
    // windows.
    [[nodiscard]] std::optional<Hash128>
    issue(std::span<const Charge> charges, SteadyTime expires, SteadyTime now) noexcept;

    // Claims a permit. Empty if it is unknown, spent, expired or claimed.
    [[nodiscard]] Claim claim(Hash128 id, SteadyTime now) noexcept;
    // Like claim(), but leaves the permit unclaimed: the result tells what the permit would pay,
    // and can be neither spent nor given back. Empty also without memory.
    [[nodiscard]] Claim look(Hash128 id, SteadyTime now) const noexcept;

  private:
    struct ByIdTag;
    struct ByExpiryTag;
    template <class Tag>
    using Hook = boost::intrusive::
        set_base_hook<boost::intrusive::tag<Tag>, boost::intrusive::optimize_size<true>>;
    using ById = Hook<ByIdTag>;
    using ByExpiry = Hook<ByExpiryTag>;

    struct Paid {
        std::uint64_t limit; // Limit::ordinal(), which no other limit ever has
        Hash128 key;         // zero for a limit without a key
        std::uint64_t cost;
    };
    struct Entry : ById, ByExpiry {
        Hash128 id;
        SteadyTime expires{};
        boost::container::small_vector<Paid, 1> paid;
        bool ever_spent = false;

        [[nodiscard]] bool expired(SteadyTime now) const noexcept { return expires <= now; }
    };
    struct IdOf {
        using type = Hash128;
        const Hash128& operator()(const Entry& entry) const noexcept { return entry.id; }
    };
    struct ExpiryOf {
        using type = SteadyTime;
        const SteadyTime& operator()(const Entry& entry) const noexcept { return entry.expires; }
    };
    template <class Tag>
    using HookOption = boost::intrusive::base_hook<Hook<Tag>>;
    using Ids = boost::intrusive::multiset<
        Entry,
        HookOption<ByIdTag>,
        boost::intrusive::key_of_value<IdOf>,
        boost::intrusive::constant_time_size<false>>;
    using Expiries = boost::intrusive::multiset<
        Entry,
        HookOption<ByExpiryTag>,
        boost::intrusive::key_of_value<ExpiryOf>,
        boost::intrusive::constant_time_size<false>>;

    // Called with mutex_ locked:
    template <class Known>
    [[nodiscard]] static auto find_good(Known& ids, Hash128 id, SteadyTime now) noexcept;
    void keep(std::unique_ptr<Entry> entry) noexcept;
    void forget_expired(SteadyTime now) noexcept;

    const KeyHasher hasher_;
    mutable std::mutex mutex_; // guards all below
    Ids ids_;                  // unclaimed permits
    Expiries expiries_;
    std::size_t out_ = 0; // unspent permits, claimed or not
    std::uint64_t last_number_ = 0;
};

} // namespace stint::limits
