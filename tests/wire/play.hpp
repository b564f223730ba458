// Plays rows through a whole worker: once in one piece, then with the client's bytes split at every
// position, then with the upstream's.
#pragma once

#include "row.hpp"

namespace stint::wire {

// Fails the test case that calls it for each row that does not hold.
void play(const Rows& rows);

// How many rows were played so far.
[[nodiscard]] std::size_t rows_played() noexcept;

} // namespace stint::wire
