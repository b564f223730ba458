// Numbers that look random and are the same for the same seed.
#pragma once

#include <cstdint>

namespace stint::uploads {

// splitmix64 (Steele, Lea, Flood 2014).
class Dice {
  public:
    explicit Dice(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t number = 0) noexcept
        : state_{seed * 0x9e3779b97f4a7c15U + stream * 0xd1b54a32d192ed03U + number} {}

    std::uint64_t next() noexcept {
        std::uint64_t x = (state_ += 0x9e3779b97f4a7c15U);
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31);
    }
    std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
    bool percent(unsigned share) noexcept { return below(100) < share; }

  private:
    std::uint64_t state_;
};

} // namespace stint::uploads
