// Chooses which names of a kind (routes, limits) have series of their own on the Prometheus page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stint::observe {

// A choice is for good: a name with its own series keeps them, and a name that was once counted
// together with others stays there. So no counter ever falls and no count moves between series.
// Names have indices that never change. Used by one thread.
class SeriesChoice {
  public:
    // A value for a name's uses: the name has series of its own, and does not count towards `most`.
    static constexpr std::uint64_t always = ~std::uint64_t{0};

    // Chooses among the names that are not yet decided on. If all of them fit, all get their own
    // series. Else the used ones do, the most used first, while there is room; used names without
    // room are counted together from now on. An unused name stays undecided. uses: by index,
    // what has been counted for the name; 0 only if all its counters are 0. most: the most names
    // with series of their own, over the life of this object.
    void decide(const std::vector<std::uint64_t>& uses, std::size_t most);

    // Returns false for a name that is counted together with others, or undecided.
    [[nodiscard]] bool has_own(std::size_t index) const noexcept {
        return index < fates_.size() && fates_[index] == Fate::own;
    }

  private:
    enum class Fate : std::uint8_t { undecided, own, together };

    std::vector<Fate> fates_;
    std::size_t own_ = 0;
};

} // namespace stint::observe
