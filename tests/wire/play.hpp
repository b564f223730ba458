// Plays rows through a whole worker: once in one piece, then with the client's bytes split at every
// position, then with the upstream's.
#pragma once

#include "row.hpp"

namespace stint::wire {

// Fails the test case that calls it for each row that does not hold. With STINT_REPORT set, a line
// for scripts/acceptance says how many rows it had.
void play(const Rows& rows);

} // namespace stint::wire
