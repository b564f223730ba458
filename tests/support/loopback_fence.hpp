// Waits until the kernel has delivered what was sent over loopback.
#pragma once

#include "base/descriptor.hpp"

namespace stint::test {

// Under load the kernel leaves packets of the loopback device to a thread of its own (ksoftirqd),
// and a send() returns before its bytes can be read. It delivers those of one processor in the
// order of their sending, so a datagram that arrives tells of all before it.
class LoopbackFence {
  public:
    // Throws std::system_error.
    LoopbackFence();
    // Waits for what this thread has sent since the last call. Throws std::system_error.
    void wait();

  private:
    void send_and_receive();

    Descriptor socket_;
    int processor_ = -1; // on which this thread was at the last call
};

} // namespace stint::test
