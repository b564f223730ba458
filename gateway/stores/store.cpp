#include "stores/store.hpp"

#include "limits/cooldown/cooldown_set.hpp"
#include "net/clock.hpp"
#include "net/post.hpp"
#include "stores/store_loop.hpp"

#include <system_error>
#include <utility>

namespace stint::stores {

Store::Store(const StoreSettings& settings)
    : shared_{std::make_unique<StoreShared>(settings)}, loop_{std::make_unique<StoreLoop>(
                                                            *shared_)} {}

Store::~Store() {
    stop();
}

const StoreSettings& Store::settings() const noexcept {
    return shared_->settings;
}

void Store::start() {
    shared_->inbox.open();
    try {
        thread_ = std::thread{[this] { loop_->run(); }};
    } catch (const std::system_error&) {
        shared_->inbox.close();
        throw;
    }
}

void Store::stop(Duration silence) noexcept {
    shared_->inbox.close();
    if (!thread_.joinable())
        return;
    if (!net::post(loop_->executor(), [this, silence] { loop_->stop(silence); }))
        loop_->abort();
    thread_.join();
}

void Store::serve(const limits::LimitPtr& limit, limits::OnStoreFailure on_failure) {
    shared_->limits.add(limit, on_failure, net::read_steady_clock());
}

bool Store::post_wants() noexcept {
    return net::post(loop_->executor(), [this] { loop_->take_wants(); });
}

void Store::want(
    const limits::ShareWanted& wanted,
    std::uint64_t number,
    limits::ShareRequests& answer_to) noexcept {
    shared_->counters.wants.fetch_add(1, std::memory_order_relaxed);
    WantInbox::Pushed pushed = WantInbox::Pushed::refused;
    try {
        pushed = shared_->inbox.push(
            {.counter = shared_->names.counter(wanted.limit->identity(), wanted.key_text),
             .of =
                 {.limit = wanted.limit,
                  .key = wanted.limit->keyed() ? wanted.key : Hash128{},
                  .numbers = wanted.numbers,
                  .pace = wanted.pace},
             .cost = wanted.cost,
             .waiter = {number, &answer_to}});
    } catch (const std::exception&) { // no memory
    }
    const auto refuse = [this](const Waiter& waiter) {
        shared_->counters.failed.fetch_add(1, std::memory_order_relaxed);
        waiter.requests->answer(waiter.number, limits::ShareAnswer::failed);
    };
    if (pushed == WantInbox::Pushed::refused)
        return refuse({number, &answer_to});
    if (pushed == WantInbox::Pushed::first && !post_wants())
        for (const Want& each : shared_->inbox.take())
            refuse(each.waiter);
}

Hash128 Store::join(
    const limits::CooldownIdentity& identity,
    const Hash128& digest,
    const std::shared_ptr<limits::Cooldown>& cooldown,
    SteadyTime now) {
    const Hash128 name = shared_->names.pause(identity.owner, identity.scope, digest);
    shared_->pauses.join(name, cooldown, now);
    return name;
}

void Store::tell(const Hash128& name, const limits::SharedPause& pause) noexcept {
    if (shared_->pauses.tell(name, pause, net::read_steady_clock()))
        (void)net::post(loop_->executor(), [this] { loop_->tell_pauses(); }); // else with a beat
}

std::size_t Store::pauses() const {
    return shared_->pauses.under_way(net::read_steady_clock());
}

std::uint64_t Store::unshared_pauses() const noexcept {
    return shared_->pauses.unshared();
}

bool Store::trust() noexcept {
    return thread_.joinable() && state().asking &&
           net::post(loop_->executor(), [this] { loop_->trust(); });
}

StoreState Store::state() const {
    return shared_->state.get();
}

bool Store::gives(
    const limits::LimitPtr& limit, const limits::Numbers& numbers, const StoreState& by) const {
    const shared::SharedCounter counter{.limit = limit, .numbers = numbers};
    return shared::quiet_span_for(counter, settings().time_to_live) <= by.quiet_span;
}

const StoreCounters& Store::counters() const noexcept {
    return shared_->counters;
}

std::size_t Store::limits() const noexcept {
    return shared_->limits.size();
}

std::size_t Store::locks() const {
    return shared_->limits.locks().size();
}

} // namespace stint::stores
