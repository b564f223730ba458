// Wants on their way from the workers to a store's thread.
#pragma once

#include "limits/shared/share_requests.hpp"
#include "shared/share_units.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace stint::stores {

// The receiver of a want's answer.
struct Waiter {
    std::uint64_t number = 0;                  // see ShareSource::want()
    limits::ShareRequests* requests = nullptr; // outlives the store
};

struct Want {
    std::string counter; // its name in the store
    shared::SharedCounter of;
    std::uint64_t cost = 1;
    Waiter waiter;
};

// Thread-safe. Closed until open().
class WantInbox {
  public:
    enum class Pushed : std::uint8_t {
        first,  // the inbox was empty: take() is to be called
        behind, // a call of take() is on its way already
        refused // it is closed
    };

    // Throws std::bad_alloc with nothing changed.
    [[nodiscard]] Pushed push(Want want);
    // Returns all wants since the last call.
    [[nodiscard]] std::vector<Want> take() noexcept;
    void open() noexcept;
    // From now on push() refuses. Wants that are in the inbox stay.
    void close() noexcept;

  private:
    std::mutex mutex_;
    std::vector<Want> wants_;
    bool closed_ = true;
};

} // namespace stint::stores
