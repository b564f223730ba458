// Replaces the running program: starts its file anew, and hands everything over to the new process.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "limits/registry.hpp"
#include "runtime/config_store.hpp"
#include "runtime/operator_changes.hpp"
#include "runtime/persistence.hpp"
#include "runtime/queue_timer_thread.hpp"
#include "runtime/reload_history.hpp"
#include "runtime/upgrade/successor_process.hpp"
#include "runtime/worker_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::runtime {

// The parts of the gateway that are handed over. All outlive the Upgrade.
struct UpgradeParts {
    boost::asio::io_context& control;
    WorkerPool& pool;
    QueueTimerThread& openings;
    limits::Registry& registry;
    ConfigStore& store;
    const OperatorChanges& changes;
    const std::unique_ptr<Persistence>& persistence; // may be null
};

// Steps of an upgrade that the gateway takes.
struct UpgradeSteps {
    // Returns copies of the other listening sockets of the process.
    std::function<std::vector<Descriptor>()> other_sockets;
    // Returns the addresses of Unix sockets whose files are this process's.
    std::function<std::vector<std::string>()> own_files;
    // Called when the new process, of this number, serves: this one gets no new connections.
    std::function<void(pid_t)> left;
    // Reads the configuration again, as was asked for while an upgrade was under way that failed.
    std::function<void(ReloadCause)> reload;
    // Called when all connections have ended.
    std::function<void()> drained;
};

// Used by the control thread alone. Up to the moment in which the new process has taken the state,
// whatever fails leaves this process as it was.
class Upgrade {
  public:
    // program: the arguments to start, the file first. longest_start: the new process is ended if
    // it cannot serve by then.
    Upgrade(
        const UpgradeParts& parts,
        UpgradeSteps steps,
        std::vector<std::string> program,
        Duration longest_start);
    ~Upgrade();
    Upgrade(const Upgrade&) = delete;
    Upgrade& operator=(const Upgrade&) = delete;

    // Refuses upgrades until then. why: for the log; the last call with the same one counts.
    void forbid(std::string why, SteadyTime until);
    // Makes up for a reload that was refused because of the upgrade: the new process reads the
    // configuration again once it serves, or this one when the upgrade has failed.
    void note_missed_reload(ReloadCause by) noexcept;
    // Starts the new process. Logs what fails.
    void begin();
    // True from begin() until the new process serves or has failed.
    [[nodiscard]] bool under_way() const noexcept { return process_ != nullptr && !done_; }
    // True once the new process serves.
    [[nodiscard]] bool done() const noexcept { return done_; }
    // Ends the new process, if an upgrade is under way.
    void cancel(std::string_view why);
    // Tells the new process what is left to tell. Call it last, when the workers have ended.
    void finish();

  private:
    [[nodiscard]] std::string refusal() const;
    [[nodiscard]] Result<void, std::string> start();
    [[nodiscard]] Result<void, std::string> send_sockets(std::vector<Descriptor> sockets);
    void on_message(Result<Message> message);
    void hand_over(bool with_state);
    [[nodiscard]] Result<void, std::string> send_state(bool with_state, bool& begun);
    [[nodiscard]] Result<void, std::string> await_taken();
    void leave(WorkersPause& pause, bool with_state) noexcept;
    void fail(std::string_view why);

    const UpgradeParts parts_;
    const UpgradeSteps steps_;
    const std::vector<std::string> program_;
    const Duration longest_start_;
    boost::asio::steady_timer timer_;
    // Shared with the cool-downs that tell it of pauses.
    std::shared_ptr<SuccessorProcess> process_;                 // null: no upgrade has begun
    std::vector<std::pair<SteadyTime, std::string>> forbidden_; // until then, why
    std::uint32_t tried_ = 0;                                   // number of processes started
    std::optional<ReloadCause> missed_reload_;                  // refused during this upgrade
    bool done_ = false;
};

} // namespace stint::runtime
