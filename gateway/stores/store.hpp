// A store that divides limits among gateways, on a Redis or Valkey server: one per process and
// store.
#pragma once

#include "limits/cooldown/pause_exchange.hpp"
#include "limits/shared/on_store_failure.hpp"
#include "limits/shared/share_source.hpp"
#include "stores/store_settings.hpp"
#include "stores/store_state.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

namespace stint::stores {

class StoreLoop;
struct StoreShared;

// Has a thread of its own from start() to stop(). Functions without a remark: any thread.
class Store final : public limits::ShareSource, public limits::PauseExchange {
  public:
    explicit Store(const StoreSettings& settings);
    // Stops.
    ~Store() override;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    [[nodiscard]] const StoreSettings& settings() const noexcept;

    [[nodiscard]] bool runs() const noexcept { return thread_.joinable(); } // control thread
    // Begins to connect. Requires: start() was not called before. Throws std::system_error without
    // a thread. Control thread.
    void start();
    // Answers all wants, tells the other gateways that this one has gone, and ends. Blocks until
    // the store knows; at most until it has been silent for `silence`, or for ten times as long,
    // and some 3 us for each counter that has a share then. What the store has not heard by then,
    // it learns when the session's time to live is over. Idempotent. Control thread.
    void stop(Duration silence = std::chrono::seconds{1}) noexcept;

    // Divides the limit from now on: a key without a share admits nothing. on_failure may differ
    // from the former call's. The limit has no other user yet, unless a store has served it before.
    // Throws std::bad_alloc.
    void serve(const limits::LimitPtr& limit, limits::OnStoreFailure on_failure);
    // As ShareSource; `failed` within the call if the store does not run, or without memory. The
    // limit is one of serve().
    void want(
        const limits::ShareWanted& wanted,
        std::uint64_t number,
        limits::ShareRequests& answer_to) noexcept override;

    // See PauseExchange. Without a connection pauses are kept, and told after the next one is up.
    [[nodiscard]] Hash128 join(
        const limits::CooldownIdentity& identity,
        const Hash128& digest,
        const std::shared_ptr<limits::Cooldown>& cooldown,
        SteadyTime now) override;
    void tell(const Hash128& name, const limits::SharedPause& pause) noexcept override;
    [[nodiscard]] std::size_t pauses() const;                     // under way, of all gateways
    [[nodiscard]] std::uint64_t unshared_pauses() const noexcept; // see SharedPauses::unshared()

    // Tells the store that no gateway holds anything that it does not know of, so that a new store
    // gives shares at once. False: it does not answer, this gateway has no active session there, or
    // no memory.
    [[nodiscard]] bool trust() noexcept;

    [[nodiscard]] StoreState state() const;
    // True if the store gives shares of the limit to a key with these numbers, by this state of it.
    // False: it may have forgotten what gateways hold.
    [[nodiscard]] bool gives(
        const limits::LimitPtr& limit, const limits::Numbers& numbers, const StoreState& by) const;
    [[nodiscard]] const StoreCounters& counters() const noexcept;
    [[nodiscard]] std::size_t limits() const noexcept; // that it serves
    [[nodiscard]] std::size_t locks() const;           // among them

  private:
    [[nodiscard]] bool post_wants() noexcept;

    const std::unique_ptr<StoreShared> shared_;
    const std::unique_ptr<StoreLoop> loop_;
    std::thread thread_;
};

using StorePtr = std::shared_ptr<Store>;

} // namespace stint::stores
