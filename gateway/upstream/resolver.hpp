// Resolves host names of endpoints to addresses, at regular intervals and off the request path.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "net/name_lookup.hpp"
#include "net/types.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stint::upstream {

// Maps a host name to its addresses in text, in the resolver's order. A name that was never
// resolved is absent.
using AddressBook = std::map<std::string, std::vector<std::string>>;

// Runs on the control thread. Every look-up blocks a thread of its own (net::NameLookup).
class Resolver {
  public:
    using OnBook = std::function<void(std::shared_ptr<const AddressBook>)>;
    using OnFailure = std::function<void(const std::string& name, const std::string& reason)>;

    // on_book: called with the whole book whenever an answer differs from the last one. on_failure:
    // called when a name could not be resolved; the name keeps the addresses it had.
    Resolver(net::asio::io_context& context, OnBook on_book, OnFailure on_failure);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Maps a host name to the interval of its look-ups.
    using Names = std::map<std::string, Duration>;

    // Replaces the names to resolve, and looks up at once those that have no addresses yet.
    // on_ready, if given, is called when these look-ups have ended, or within watch() if there are
    // none. It does not wait for a look-up that was pending before.
    void watch(const Names& names, std::function<void()> on_ready = {});

    void stop();

    // True if an endpoint's host is a name rather than an address.
    [[nodiscard]] static bool is_name(const std::string& host) {
        return net::NameLookup::is_name(host);
    }

  private:
    using Answer = net::NameLookup::Answer;
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void begin(const std::string& name, std::shared_ptr<void> round);
    void take(const std::string& name, const Answer& answer);
    void wait_for_next_round();

    struct Watched {
        Duration interval{};
        SteadyTime due{};
    };

    Timer timer_;
    OnBook on_book_;
    OnFailure on_failure_;
    net::NameLookup lookup_;
    std::map<std::string, Watched> names_;
    std::set<std::string> under_way_;
    AddressBook book_;
};

} // namespace stint::upstream
