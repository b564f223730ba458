// The part of a Store that lives on its own thread: its connection, its session, its calls.
#pragma once

#include "base/once_a_second.hpp"
#include "net/types.hpp"
#include "redis/primary_watch.hpp"
#include "redis/store_client.hpp"
#include "shared/share_client.hpp"
#include "stores/counter_names.hpp"
#include "stores/pause_teller.hpp"
#include "stores/served_limits.hpp"
#include "stores/shared_pauses.hpp"
#include "stores/store_settings.hpp"
#include "stores/store_state.hpp"
#include "stores/waiting_wants.hpp"
#include "stores/want_inbox.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace stint::stores {

// The objects of a store that all threads use.
struct StoreShared {
    explicit StoreShared(const StoreSettings& of) : settings{of}, names{of.prefix, of.secret} {}

    const StoreSettings settings;
    const CounterNames names;
    WantInbox inbox;
    ServedLimits limits;
    SharedPauses pauses;
    StoreCounters counters;
    PublishedState state;
};

// Used on the store's thread but for executor(), run() and the constructor.
class StoreLoop final : private redis::StoreClient::Watcher,
                        private redis::PrimaryWatch::Watcher,
                        private shared::Transport,
                        private shared::ShareListener {
  public:
    explicit StoreLoop(StoreShared& shared);
    ~StoreLoop();
    StoreLoop(const StoreLoop&) = delete;
    StoreLoop& operator=(const StoreLoop&) = delete;

    [[nodiscard]] net::Executor executor() noexcept { return context_.get_executor(); }
    // Connects, and works until stop() is done. Makes the calling thread the store's.
    void run() noexcept;
    // Ends run() at once, without a word to the store. Any thread.
    void abort() noexcept { context_.stop(); }

    // Takes what is in the inbox.
    void take_wants() noexcept;
    void trust() noexcept; // as Store::trust()
    void tell_pauses() noexcept;
    // Answers all wants, gives all shares back, ends the session, and then run(): when the store
    // knows, or as Store::stop() says.
    void stop(Duration silence) noexcept;

  private:
    using Timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::Executor>;

    // The connection.
    void on_up(const redis::ServerFacts& facts) override;
    void on_down(const redis::Failure& why) override;
    void on_voters() override;
    void connect(SteadyTime at);
    void follow_primary(SteadyTime now);
    [[nodiscard]] bool usable(SteadyTime now) const;

    // Calls: store_loop_calls.cpp.
    void send(shared::Call call) override;
    void answered(const std::string& counter) override;
    void failed(const std::string& counter) override;
    void trusted(bool taken) override;
    void ask(const Want& want, const Now& now) noexcept;
    [[nodiscard]] SteadyTime ask_for_locks(const Now& now);
    void replied(std::uint64_t call, const redis::Reply& reply, const Now& now);
    void note_failed_call(const std::string& why, SteadyTime now);

    // Time.
    template <class Function>
    void turn(Function function) noexcept;
    void go_on(const Now& now);
    void go_on_leaving(const Now& now);
    void begin_session(const Now& now);
    void arm(SteadyTime when);
    void try_later(SteadyTime now) noexcept;
    [[nodiscard]] shared::SessionTerms new_terms();
    [[nodiscard]] ServedLimits::Standing standing(SteadyTime now) const;
    [[nodiscard]] bool is_overdue(SteadyTime now) const;
    void report(const Now& now);
    void note_session_state(SteadyTime now);
    void note_learnt(SteadyTime now);
    void publish(const Now& now);

    StoreShared& shared_;
    net::asio::io_context context_{1};
    Timer timer_;
    SteadyTime armed_for_ = SteadyTime::max();
    WaitingWants waiting_;
    shared::ShareClient shares_;
    PauseTeller pauses_;
    std::string unfit_;       // why the server is not used
    std::string unconfirmed_; // why no majority names it
    std::string told_slow_;   // the latest word about slow failovers that was logged
    SteadyTime connect_again_at_ = SteadyTime::max();
    bool was_up_ = false;
    std::string told_down_; // the latest reason that was logged
    shared::SessionState told_state_ = shared::SessionState::unknown;
    bool told_withheld_ = false;
    OnceASecond refusals_; // log lines about calls that the server refuses
    OnceASecond learnt_lines_;
    OnceASecond unshared_lines_;
    std::uint64_t told_unshared_ = 0; // pauses that were not shared, as the log says
    std::string last_failure_;
    SteadyTime last_failure_at_{};
    ServedLimits::Standing stood_;
    SteadyTime published_at_{};
    SteadyTime next_look_at_locks_{};
    bool has_news_ = false;              // to be published at once
    std::optional<SteadyTime> leave_by_; // stop() was called; each reply moves it
    SteadyTime last_leave_by_{};
    Duration longest_silence_{};
    std::unique_ptr<redis::PrimaryWatch> watch_; // null: the address is known
    std::unique_ptr<redis::StoreClient> client_; // goes first
};

} // namespace stint::stores
