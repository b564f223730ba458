// Takes over from the process that this one is to replace: its sockets, what it has counted, and
// its connections.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "config/load.hpp"
#include "limits/registry.hpp"
#include "net/inherited_sockets.hpp"
#include "runtime/config_store.hpp"
#include "runtime/listener_set.hpp"
#include "runtime/operator_changes.hpp"
#include "runtime/upgrade/channel.hpp"
#include "runtime/upgrade/handed_pauses.hpp"
#include "runtime/upgrade/held_slots.hpp"
#include "runtime/upgrade/messages.hpp"
#include "runtime/worker_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

// The parts of the gateway that take over. All outlive the TakeOver.
struct TakeOverParts {
    boost::asio::io_context& control;
    WorkerPool& pool;
    limits::Registry& registry;
    ConfigStore& store;
    OperatorChanges& changes;
};

// Used by the control thread alone. The steps in their order: greet(), rehearse(), await_state(),
// begin(), serve(). Errors are human-readable lines.
class TakeOver {
  public:
    // Returns nothing if no process is to be replaced. cold: also one whose state this process does
    // not understand.
    [[nodiscard]] static std::unique_ptr<TakeOver>
    from(const config::Environment& environment, const TakeOverParts& parts, bool cold);
    TakeOver(Channel channel, const TakeOverParts& parts, bool cold);

    using Resolve = std::function<void(const upstream::Resolver::Names&)>;

    // Receives the listening sockets, blocking.
    [[nodiscard]] Result<net::InheritedSockets, std::string> greet();
    // Does what may fail or take long, while the other process serves: compiles the configuration,
    // resolves its names by `resolve`, begins sessions at its stores. Blocks. No limit lives on.
    [[nodiscard]] Result<void, std::string>
    rehearse(const LoadedConfig& loaded, const Resolve& resolve);
    // Says that this process can serve, and waits for the state, blocking. From then on the other
    // process decides nothing until begin(), or the end of this one. Nothing: there is no state.
    [[nodiscard]] Result<std::optional<HandedState>, std::string> await_state();
    // Keeps listening sockets until the clients are served who came before.
    void keep(ListenerSet::Opened listeners) { listeners_ = std::move(listeners); }
    // Takes what is in the state beside its rows, says that the state is taken, and waits until the
    // other process has agreed, blocking. Afterwards this one decides. Requires: a configuration is
    // in force.
    [[nodiscard]] Result<void, std::string> begin(const std::optional<HandedState>& state);
    // Receives connections and other messages from now on, and gives the connections to the
    // workers; then the listeners. Requires: the workers run.
    void serve();
    // Calls `then` once the workers accept clients, at once if they do; only the last `then` of
    // those that wait.
    void await_listening(std::function<void()> then);
    // Receives no more messages. Call it before the workers end.
    void stop() noexcept;
    // Calls `ended` once the former process has ended, at once if it has.
    void await_end(std::function<void()> ended);

  private:
    [[nodiscard]] Result<void, std::string>
    begin_sessions(const LoadedConfig& loaded, const Compiled& trial);
    void await_message();
    void take(Message message);
    void take_connection(Message message);
    void serve_waiting();
    void serve_next();
    void begin_listening();
    void after_turns(std::function<void()> then);
    void end();

    Channel channel_;
    const TakeOverParts parts_;
    const bool may_be_cold_;
    bool cold_ = false;
    std::vector<Message> early_; // that came before serve()
    std::optional<boost::asio::posix::stream_descriptor> readable_;
    boost::asio::steady_timer late_; // for begin_listening()
    std::size_t next_worker_ = 0;
    bool listening_ = false;
    std::function<void()> on_listening_;
    ListenerSet::Opened listeners_; // until begin_listening()
    // Connections with a request that waits, until all have come; the first is the last here.
    std::vector<server::HandedConnection> waiting_;
    std::unique_ptr<HeldSlots> slots_; // null once the former process has ended
    std::function<void()> ended_;
    std::shared_ptr<HandedPauses> pauses_;
};

} // namespace stint::runtime
