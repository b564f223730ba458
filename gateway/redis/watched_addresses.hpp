// The address of the primary that a PrimaryWatch finds.
#pragma once

#include "redis/address_source.hpp"
#include "redis/primary_watch.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::redis {

// A search waits for a majority for 1 s. What it finds, the watch follows.
class WatchedAddresses final : public AddressSource {
  public:
    // watch: outlives this object; for one AddressSource at a time. server_name: see Address;
    // empty: the host that the voters name.
    WatchedAddresses(const net::Executor& executor, PrimaryWatch& watch, std::string server_name);
    ~WatchedAddresses() override;

    void find(Found found) override;
    void cancel() noexcept override;
    void note_failure() noexcept override;
    // "MOVED": asks the voters anew. "ASK": while they name the same server, and the one that it
    // names can be used, that is the next address.
    void note_redirect(std::string_view text) override;

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void look();
    void give_up();

    const net::Executor executor_;
    PrimaryWatch& watch_;
    const std::string server_name_;
    std::optional<HostPort> owner_;      // that was named last
    std::optional<HostPort> asked_;      // the server that it has named for the time of a migration
    std::optional<HostPort> next_asked_; // `asked_` after the end of the connection
    std::optional<HostPort> found_;      // `owner_` or `asked_`
    std::unique_ptr<HostAddresses> addresses_; // the addresses of `found_`
    Found search_;                             // while no majority names a primary
    Timer timer_;
    // Gone with this object: a timer that has expired may still be pending on the event loop.
    const std::shared_ptr<WatchedAddresses*> self_ = std::make_shared<WatchedAddresses*>(this);
};

} // namespace stint::redis
