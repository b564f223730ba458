// Counts an object in a gauge for as long as it lives.
#pragma once

#include <cstdint>

namespace stint {

class Counted {
  public:
    // gauge: outlives this.
    explicit Counted(std::uint64_t& gauge) noexcept : gauge_{gauge} { ++gauge_; }
    ~Counted() { --gauge_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    std::uint64_t& gauge_;
};

} // namespace stint
