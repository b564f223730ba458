// The process that is to replace this one: starts it, and talks to it.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/cooldown/pause_exchange.hpp"
#include "limits/return_listener.hpp"
#include "runtime/upgrade/channel.hpp"
#include "runtime/upgrade/messages.hpp"
#include "server/successor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

namespace stint::runtime {

// Used by the control thread alone, but for the functions of its base classes: any thread.
class SuccessorProcess final : public server::Successor,
                               public limits::ReturnListener,
                               public limits::PauseExchange,
                               public std::enable_shared_from_this<SuccessorProcess> {
  public:
    // Starts a program with this end of a new pair as the descriptor that `variable_of_descriptor`
    // names. arguments: the first is the program's file. The error is one human-readable line.
    [[nodiscard]] static Result<std::unique_ptr<SuccessorProcess>, std::string>
    start(boost::asio::io_context& control, const std::vector<std::string>& arguments);
    // Ends the process as end() does, unless release() was called.
    ~SuccessorProcess() override;
    SuccessorProcess(const SuccessorProcess&) = delete;
    SuccessorProcess& operator=(const SuccessorProcess&) = delete;

    // The environment variable with the number of the descriptor.
    static constexpr auto variable_of_descriptor = "STINT_PREDECESSOR";

    [[nodiscard]] pid_t id() const noexcept { return process_; }
    // Sends what has to be sent before anything else, waiting for `most`.
    [[nodiscard]] ErrorCode send(const Message& message, Duration most) {
        return channel_.send(message, most);
    }
    [[nodiscard]] Result<Message> receive(Duration most) { return channel_.receive(most); }
    // Calls `on_message` with the next message, or the error that ends the pair.
    void await_message(std::function<void(Result<Message>)> on_message);
    // Sends a message after all others that were posted, as soon as it can be sent.
    void post(Message message);
    // Sends what was posted, blocking, for `most`.
    void flush(Duration most);
    // Tells of the pauses of these cool-downs from now on, also of those under way.
    void tell_pauses_of(limits::CooldownSet& cooldowns, SteadyTime now);
    // The process lives on when this object ends.
    void release() noexcept { released_ = true; }
    // Lets the process end itself, which takes it a second for each store, and kills it if it does
    // not. Waits for its end. Idempotent.
    void end() noexcept;
    // Ends the process at once, and waits for its end. Idempotent.
    void kill() noexcept;
    // Returns how the process has ended, for people; waits for that for a moment.
    [[nodiscard]] std::string ending() noexcept;

    // --- any thread ---
    void take(server::HandedConnection connection) noexcept override;
    void given_back(
        const limits::Limit& limit,
        Hash128 key,
        const limits::Receipt& receipt,
        std::uint64_t cost) noexcept override;
    [[nodiscard]] Hash128 join(
        const limits::CooldownIdentity& identity,
        const Hash128& digest,
        const std::shared_ptr<limits::Cooldown>& cooldown,
        SteadyTime now) override;
    [[nodiscard]] bool joins_gateways() const noexcept override { return false; }
    void tell(const Hash128& name, const limits::SharedPause& pause) noexcept override;

  private:
    SuccessorProcess(
        boost::asio::io_context& control,
        Channel channel,
        Descriptor readable,
        Descriptor writable,
        pid_t process);
    void post_from_any_thread(Message message);
    void send_posted();
    void await_room();
    void retry_later();
    [[nodiscard]] bool await_exit(Duration most) noexcept;

    boost::asio::io_context& control_;
    Channel channel_;
    boost::asio::posix::stream_descriptor readable_; // a copy of the channel's descriptor
    boost::asio::posix::stream_descriptor writable_;
    boost::asio::steady_timer later_;
    pid_t process_;
    int status_ = 0;
    bool ended_ = false;
    bool released_ = false;
    bool broken_ = false; // nothing can be sent any more
    bool waits_ = false;  // for room to send
    std::deque<Message> posted_;
    std::mutex mutex_;
    std::map<Hash128, HandedPause> pauses_;           // by the names of join(); guarded by mutex_
    std::map<const limits::Cooldown*, Hash128> keys_; // guarded by mutex_
};

} // namespace stint::runtime
