// All stores of the process, kept over reloads.
#pragma once

#include "stores/store.hpp"

#include <mutex>
#include <vector>

namespace stint::stores {

// Thread-safe.
class StoreRegistry {
  public:
    // Returns the store in force with these settings; else a new one, which does not run yet.
    [[nodiscard]] StorePtr obtain(const StoreSettings& settings);
    // Puts these stores in force: stops all others, for a second at most each, then starts those
    // that do not run. So a store whose settings have changed gives its shares back before it takes
    // some under the same gateway's name. Throws std::system_error without a thread.
    void keep(std::vector<StorePtr> stores);

  private:
    mutable std::mutex mutex_;
    std::vector<StorePtr> kept_;
};

} // namespace stint::stores
