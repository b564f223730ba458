// Where a link's next connection goes.
#pragma once

#include "base/error.hpp"
#include "net/name_lookup.hpp"
#include "net/types.hpp"
#include "redis/connection.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

// Used on the link's thread, by one link. It may ask others for the address, for example a name
// server or Sentinels.
class AddressSource {
  public:
    struct Answer {
        Address address = {};
        std::string failure = {}; // why there is none: "look up redis.internal: no such name"
    };
    using Found = std::function<void(const Answer&)>;

    virtual ~AddressSource() = default;

    // Looks for the next address to try. Calls `found` once, from the event loop, never from within
    // this call; not after cancel() or the destructor. Requires: no other search is under way.
    virtual void find(Found found) = 0;
    virtual void cancel() noexcept = 0;

    // Notes that the address found last is of no use now: it could not be connected, its connection
    // has ended, or its server is not a primary.
    virtual void note_failure() noexcept = 0;
    // Notes that the server has sent a call elsewhere: "MOVED 3999 127.0.0.1:6381", "ASK ...".
    virtual void note_redirect(std::string_view /*text*/) {}
};

// One address that is known beforehand.
class FixedAddress final : public AddressSource {
  public:
    FixedAddress(const net::Executor& executor, Address address);

    void find(Found found) override;
    void cancel() noexcept override { search_.reset(); }
    void note_failure() noexcept override {}

  private:
    const net::Executor executor_;
    const Address address_;
    std::shared_ptr<Found> search_;
};

// A host and its port. The addresses of a name are tried in turn, and after the last one the name
// is looked up anew.
class HostAddresses final : public AddressSource {
  public:
    // host: a name, or an address without brackets. server_name: see Address.
    HostAddresses(
        const net::Executor& executor,
        std::string host,
        std::uint16_t port,
        std::string server_name);

    void find(Found found) override;
    void cancel() noexcept override { search_.reset(); }
    void note_failure() noexcept override { ++next_; }

  private:
    void answer_later();
    [[nodiscard]] Answer current() const;

    const net::Executor executor_;
    const std::string host_;
    const std::uint16_t port_;
    const std::string server_name_;
    net::NameLookup lookup_;
    std::vector<std::string> addresses_;
    std::size_t next_ = 0; // in addresses_; beyond them: to be looked up
    std::shared_ptr<Found> search_;
};

} // namespace stint::redis
