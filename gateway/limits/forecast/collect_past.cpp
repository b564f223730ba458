#include "limits/forecast/collect_past.hpp"

#include <mutex>

namespace stint::limits {

namespace {

class Reader {
  public:
    Reader(const Shards& shards, const Numbers& numbers, Duration per, const Now& now, Past& past)
        : shards_{shards}, now_{now}, past_{past}, terms_{
                                                       .quota = numbers.quota,
                                                       .burst = numbers.burst > 0 ? numbers.burst
                                                                                  : numbers.quota,
                                                       .cost = 1,
                                                       .pace = false,
                                                       .reserved_for_others = 0,
                                                       .late = {},
                                                       .per = per,
                                                       .clock = nullptr,
                                                       .returned = nullptr} {}

    void read(const Shard& shard) {
        read(shard, {}, shard.single);
        for (const Counter& counter : shard.table)
            if (!counter.vacant())
                read(shard, counter.key, counter.slot);
    }

  private:
    void read(const Shard& shard, Hash128 key, const CounterCell& cell) {
        if (cell.stamp <= 0)
            return;
        const AlgorithmOps& rules = shards_.rules();
        if (&rules != &fixed_window_ops && !is_over(shard, cell)) {
            add(key, rules.state(cell, terms_, now_.steady).used);
        } else if (
            rules.counted != nullptr &&
            shards_.past().covers(shards_.end_of(shard, cell), now_.steady)) {
            add(key, rules.counted(cell));
        }
    }

    // A cap's slots are held until they are freed, whatever the stamp.
    [[nodiscard]] bool is_over(const Shard& shard, const CounterCell& cell) const noexcept {
        return &shards_.rules() != &concurrency_ops && shards_.end_of(shard, cell) <= now_.steady;
    }

    void add(Hash128 key, std::uint64_t counted) {
        if (counted > PastWindows::negligible)
            past_.windows.add(WindowCount{key, counted});
    }

    const Shards& shards_;
    const Now& now_;
    Past& past_;
    const ChargeTerms terms_;
};

} // namespace

Past collect_past(const Shards& shards, const Numbers& numbers, Duration per, const Now& now) {
    Past past;
    past.since = now.steady;
    shards.past().append_to(past, now.steady);
    Reader reader{shards, numbers, per, now, past};
    shards.visit_made([&](Shard& shard) {
        const std::lock_guard lock{shard.mutex};
        reader.read(shard);
    });
    return past;
}

} // namespace stint::limits
