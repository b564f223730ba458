#include "limits/counter/sketch.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

SketchCells::SketchCells(std::size_t width) noexcept
    : width_{width}, cells_{new (std::nothrow) std::uint64_t[width * rows]{}} {}

std::uint64_t SketchCells::least(Hash128 key) const noexcept {
    std::uint64_t least = cell(key, 0);
    for (std::size_t row = 1; row < rows; ++row)
        least = std::min(least, cell(key, row));
    return least;
}

void SketchCells::add(Hash128 key, std::uint64_t count) noexcept {
    for (std::size_t row = 0; row < rows; ++row)
        cell(key, row) += count;
}

void SketchCells::take_back(Hash128 key, std::uint64_t count) noexcept {
    for (std::size_t row = 0; row < rows; ++row)
        cell(key, row) -= std::min(cell(key, row), count);
}

void SketchCells::raise(Hash128 key, std::uint64_t to) noexcept {
    for (std::size_t row = 0; row < rows; ++row)
        cell(key, row) = std::max(cell(key, row), to);
}

void SketchCells::clear() noexcept {
    std::fill_n(cells_.get(), width_ * rows, 0);
}

WindowSketch::WindowSketch(std::size_t width, Duration per) noexcept
    : length_{(per.count() + 3) / 4}, cells_{
                                          SketchCells{width}, SketchCells{width},
                                          SketchCells{width}, SketchCells{width},
                                          SketchCells{width}} {}

bool WindowSketch::good() const noexcept {
    return std::ranges::all_of(cells_, &SketchCells::good);
}

void WindowSketch::advance(SteadyTime now, std::int64_t serial) noexcept {
    const std::int64_t quarter = now.time_since_epoch().count() / length_;
    if (serial != serial_) {
        for (SketchCells& cells : cells_)
            cells.clear();
        serial_ = serial;
        now_ = std::max(now_, quarter);
    }
    for (std::int64_t left = std::min(quarter - now_, quarters); left > 0; --left)
        cells_of(quarter - left + 1).clear();
    now_ = std::max(now_, quarter);
}

std::uint64_t WindowSketch::count_from(Hash128 key, std::int64_t quarter) const noexcept {
    std::array<std::uint64_t, SketchCells::rows> sums{};
    for (; quarter <= now_; ++quarter)
        for (std::size_t row = 0; row < SketchCells::rows; ++row)
            sums[row] += cells_of(quarter).cell(key, row);
    return std::ranges::min(sums);
}

std::uint64_t WindowSketch::count(Hash128 key) const noexcept {
    return count_from(key, std::max<std::int64_t>(now_ - quarters + 1, 0));
}

SteadyTime WindowSketch::until(Hash128 key, std::uint64_t most) const noexcept {
    std::int64_t quarter = std::max<std::int64_t>(now_ - quarters + 1, 0);
    while (quarter <= now_ && count_from(key, quarter) > most)
        ++quarter;
    return SteadyTime{Duration{(quarter - 1 + quarters) * length_}};
}

std::int64_t WindowSketch::add(Hash128 key, std::uint64_t count) noexcept {
    cells_of(now_).add(key, count);
    return now_;
}

void WindowSketch::take_back(
    Hash128 key, std::int64_t quarter, std::int64_t serial, std::uint64_t count) noexcept {
    if (serial == serial_ && quarter > now_ - quarters)
        cells_of(quarter).take_back(key, count);
}

} // namespace stint::limits
