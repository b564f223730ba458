// Host names of endpoints to addresses, off the request path and again every so often.
#pragma once

#include "base/error.hpp"
#include "net/types.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stint::upstream {

// Host name to its addresses in text, in the resolver's order. A name that never resolved is
// absent.
using AddressBook = std::map<std::string, std::vector<std::string>>;

// Runs on the control thread; Asio makes the blocking look-ups on a thread of its own.
class Resolver {
  public:
    using OnBook = std::function<void(std::shared_ptr<const AddressBook>)>;
    using OnFailure = std::function<void(const std::string& name, const ErrorCode& error)>;

    // on_book: called with the whole book whenever an answer differs from the last one.
    // on_failure: a name that could not be resolved; its last good answer is kept.
    Resolver(net::asio::io_context& context, OnBook on_book, OnFailure on_failure);

    // Replaces the names to look after and looks the new ones up at once.
    // on_ready, if given, is called when every name has been tried once.
    void watch(std::set<std::string> names, std::function<void()> on_ready = {});

    void stop();

    // Whether an endpoint's host is a name rather than an address.
    [[nodiscard]] static bool is_name(const std::string& host);

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    void look_up(const std::string& name, std::shared_ptr<void> round);
    void wait_for_next_round();

    static constexpr std::chrono::seconds interval{30};

    net::asio::ip::basic_resolver<net::asio::ip::tcp, net::Executor> resolver_;
    Timer timer_;
    OnBook on_book_;
    OnFailure on_failure_;
    std::set<std::string> names_;
    AddressBook book_;
};

} // namespace stint::upstream
