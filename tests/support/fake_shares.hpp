// A store of shares that answers when the test says so.
#pragma once

#include "limits/limit.hpp"
#include "limits/shared/share_requests.hpp"
#include "limits/shared/shared_terms.hpp"
#include "routing/snapshot.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::test {

// Used on one thread.
class FakeShares final : public limits::ShareSource {
  public:
    struct Asked {
        limits::LimitPtr limit;
        Hash128 key;
        std::string key_text;
        limits::Numbers numbers;
        std::uint64_t cost;
        std::uint64_t number;
        limits::ShareRequests* by;
    };

    void want(
        const limits::ShareWanted& wanted,
        std::uint64_t number,
        limits::ShareRequests& answer_to) noexcept override {
        all_asked += 1;
        asked.push_back(
            {wanted.limit, wanted.key, std::string{wanted.key_text}, wanted.numbers, wanted.cost,
             number, &answer_to});
    }

    // A limit of this store, as one that has just begun: no key has a share.
    static void begin(limits::Limit& limit) {
        limit.share_policy().reserve_without_share({0, 0});
        limit.share_policy().set_asking(true);
    }
    static void set(limits::Limit& limit, std::uint64_t units, const Now& now, Hash128 key = {}) {
        (void)limit.set_share(key, {{units, 0}, never}, now);
    }

    // Answers everything that was asked: each key's share is that large now.
    void grant(std::uint64_t units, const Now& now) {
        for (const Asked& each : std::exchange(asked, {})) {
            set(*each.limit, units, now, each.key);
            each.by->answer(each.number, limits::ShareAnswer::told);
        }
    }
    // There is no more, and will be none for an hour.
    void refuse(const Now& now) {
        for (const Asked& each : std::exchange(asked, {})) {
            const auto held = each.limit->share(each.key, now).numbers;
            (void)each.limit->set_share(
                each.key,
                {held.value_or(limits::Numbers{}), never, now.steady + std::chrono::hours{1}}, now);
            each.by->answer(each.number, limits::ShareAnswer::told);
        }
    }
    void fail() {
        for (const Asked& each : std::exchange(asked, {}))
            each.by->answer(each.number, limits::ShareAnswer::failed);
    }

    std::vector<Asked> asked; // and not answered
    std::size_t all_asked = 0;

  private:
    static constexpr SteadyTime never = SteadyTime::max() - std::chrono::nanoseconds{1};
};

// Shares the limits of these names, in a configuration that does not say so.
inline void share_limits(
    const routing::Snapshot& snapshot,
    std::initializer_list<std::string_view> names,
    const limits::SharedTerms& terms) {
    for (const routing::LimitTermsPtr& each : snapshot.limits)
        if (std::ranges::find(names, each->limit->identity().name) != names.end()) {
            const_cast<routing::LimitTerms&>(*each).shared = terms;
            FakeShares::begin(*each->limit);
        }
}

} // namespace stint::test
