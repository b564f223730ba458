// Waits until the kernel has delivered what was sent over loopback.
#pragma once

#include "base/descriptor.hpp"

#include <sched.h>

namespace stint::test {

// Under load the kernel leaves packets of the loopback device to a thread of its own (ksoftirqd),
// and a send() returns before its bytes can be read. The kernel delivers the packets of one
// processor in the order of their sending: once a datagram has arrived, so have all packets before
// it. Therefore a fence keeps its thread on one processor.
class LoopbackFence {
  public:
    // Throws std::system_error.
    LoopbackFence();
    LoopbackFence(const LoopbackFence&) = delete;
    LoopbackFence& operator=(const LoopbackFence&) = delete;
    ~LoopbackFence();
    // Waits for what the thread has sent. Throws std::system_error.
    void wait();

  private:
    cpu_set_t former_{}; // the processors of the thread
    Descriptor socket_;
};

} // namespace stint::test
