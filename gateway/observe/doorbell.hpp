// Wakes a thread that polls several descriptors.
#pragma once

#include "base/descriptor.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>

namespace stint::observe {

// An eventfd to be polled by one thread. ring() makes it readable, from any thread; silence()
// resets it. Several rings before a reset cause one wake-up.
class Doorbell {
  public:
    Doorbell() : descriptor_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
        if (descriptor() < 0)
            throw std::system_error{errno, std::generic_category(), "eventfd"};
    }

    void ring() const noexcept { (void)::eventfd_write(descriptor(), 1); }
    void silence() const noexcept {
        eventfd_t rings = 0;
        (void)::eventfd_read(descriptor(), &rings);
    }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  private:
    Descriptor descriptor_;
};

} // namespace stint::observe
