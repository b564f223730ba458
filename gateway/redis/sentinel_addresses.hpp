// The address of the primary that Sentinels name.
#pragma once

#include "redis/address_source.hpp"
#include "redis/sentinel_watch.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace stint::redis {

// A search waits for a majority for 1 s. What it finds, the watch follows.
class SentinelAddresses final : public AddressSource {
  public:
    // watch: outlives this object; for one AddressSource at a time. server_name: see Address;
    // empty: the host that the Sentinels name.
    SentinelAddresses(const net::Executor& executor, SentinelWatch& watch, std::string server_name);
    ~SentinelAddresses() override;

    void find(Found found) override;
    void cancel() noexcept override;
    void note_failure() noexcept override;

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void look();
    void give_up();

    const net::Executor executor_;
    SentinelWatch& watch_;
    const std::string server_name_;
    std::optional<HostPort> found_;
    std::unique_ptr<HostAddresses> addresses_; // the addresses of `found_`
    Found search_;                             // while no majority names a primary
    Timer timer_;
    // Gone with this object: a timer that has expired may still be pending on the event loop.
    const std::shared_ptr<SentinelAddresses*> self_ = std::make_shared<SentinelAddresses*>(this);
};

} // namespace stint::redis
