#include "limits/shared/shared_charges.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace stint;
using namespace std::chrono_literals;

namespace {

// A store's client that pipelines: it reads the answers that have come whenever it writes.
class Pipelining final : public limits::SharedCounters {
  public:
    void
    charge(std::uint64_t number, std::span<const limits::Charge>, SteadyTime, const Now&) noexcept
        override {
        for (const std::uint64_t earlier : std::exchange(come, {})) {
            limits::SharedAnswer answer;
            answer.outcome = limits::SharedAnswer::Outcome::granted;
            charges.answer(earlier, answer);
        }
        last = number;
    }
    void cancel(std::uint64_t) noexcept override {}
    void give_back(const limits::SharedGrant&) noexcept override {}

    limits::SharedCharges charges{*this};
    std::vector<std::uint64_t> come;
    std::uint64_t last = 0;
};

struct Asking final : limits::SharedCharges::Request {
    void answered() noexcept override { ++told; }
    int told = 0;
};

} // namespace

TEST_CASE("a request is told of its answer that comes while another one is posted") {
    Pipelining store;
    Asking first;
    Asking second;
    const Now now{SteadyTime{5s}, {}};
    REQUIRE_FALSE(first.post(store.charges, {}, now.steady + 20ms, now));
    store.come = {store.last};

    REQUIRE_FALSE(second.post(store.charges, {}, now.steady + 20ms, now));

    CHECK(first.answer().has_value());
    CHECK(first.told == 1);
    (void)store.charges.expire({now.steady + 1s, {}});
    CHECK(second.told == 1);
    CHECK(first.told == 1);
}
