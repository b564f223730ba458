// Tells the service manager that the process is alive, as long as all of its event loops are.
#pragma once

#include "runtime/service_manager.hpp"
#include "runtime/worker_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace stint::runtime {

// Posts to each worker, and tells the service manager once all have answered: a worker that hangs
// lets the watchdog end the process. Used by the control thread alone.
class Watchdog {
  public:
    // All must outlive this object.
    Watchdog(boost::asio::io_context& control, WorkerPool& pool, const ServiceManager& manager);

    // Does nothing if the service manager has no watchdog.
    void start();
    // From now on the workers end, and need not answer.
    void drain() noexcept { draining_ = true; }
    void stop();

  private:
    void look();

    boost::asio::steady_timer timer_;
    WorkerPool& pool_;
    const ServiceManager& manager_;
    bool waits_ = false; // for the workers' answers
    bool draining_ = false;
    bool stopped_ = false;
};

} // namespace stint::runtime
