// A store's thread: its connection, its session, and what follows for the limits.
#include "stores/store_loop.hpp"

#include "net/clock.hpp"
#include "shared/store_script.hpp"
#include "stores/connecting.hpp"
#include "stores/fitness.hpp"
#include "stores/store_turn.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace stint::stores {
namespace {

using shared::SessionState;

using namespace std::chrono_literals;

// A server that is unfit is asked again after this time.
constexpr Duration between_checks = 2s;
constexpr Duration between_publications = 100ms;
constexpr Duration between_tries_without_memory = 100ms;

} // namespace

StoreLoop::StoreLoop(StoreShared& shared)
    : shared_{shared}, timer_{context_.get_executor()}, waiting_{shared.counters},
      shares_{new_terms(), *this, *this}, pauses_{shared.names.pauses(), shared.pauses, *this} {}

StoreLoop::~StoreLoop() = default;

shared::SessionTerms StoreLoop::new_terms() {
    shared_.counters.sessions.fetch_add(1, std::memory_order_relaxed);
    return {
        .gateway = shared_.settings.gateway,
        .session = digits_of(KeyHasher{}("session")), // the hasher's own key is random
        .time_to_live = shared_.settings.time_to_live,
        .timeout = shared_.settings.call_timeout(),
        .recall_wait = shared_.settings.timeout / 2};
}

void StoreLoop::run() noexcept {
    const auto work = net::asio::make_work_guard(context_);
    turn([this](const Now& now) { connect(now.steady); });
    for (;;) {
        try {
            context_.run();
            break;
        } catch (const std::exception& error) { // without memory
            spdlog::error("store {}: {}", shared_.settings.name, error.what());
        }
    }
    shared_.inbox.close();
    for (const Want& want : shared_.inbox.take())
        waiting_.answer(want.waiter, limits::ShareAnswer::failed);
    waiting_.answer_all(limits::ShareAnswer::failed);
    const Now now = net::read_clocks();
    shares_.drop_shares(now);
    shared_.limits.stand({}, now.steady);
    client_.reset();
    watch_.reset();
}

void StoreLoop::connect(SteadyTime at) {
    connect_again_at_ = at + between_checks; // if there is no memory for it
    client_.reset();
    if (!watch_) {
        redis::PrimaryWatch::Watcher& watcher = *this;
        watch_ = watch_primary(executor(), shared_.settings, watcher);
    }
    redis::StoreClient::Watcher& watcher = *this;
    client_ = std::make_unique<redis::StoreClient>(
        executor(), server_link(shared_.settings),
        server_addresses(executor(), shared_.settings, watch_.get()),
        shared::store_script(!shared_.settings.cluster.empty()), watcher);
    client_->subscribe(shared_.names.registry(), [this](std::string_view message) {
        turn([&](const Now& now) {
            // Pauses are learnt also from a server that is not used now: it sends them only once.
            const bool taken = pauses_.take(message, shares_.session().terms().session, now.steady);
            if (!taken && usable(now.steady))
                shares_.recall(message, now);
        });
    });
    connect_again_at_ = SteadyTime::max();
}

void StoreLoop::on_voters() {
    turn([this](const Now& now) { follow_primary(now.steady); });
}

// Gives the server up as soon as a majority names another one.
void StoreLoop::follow_primary(SteadyTime now) {
    if (!client_)
        return; // there was no memory for it; the next word comes soon
    const auto primary = watch_->primary(now);
    if (primary && !watch_->confirms(now))
        client_->change_address(
            std::string{watch_->voters()} + " name another primary: " + primary->address.text());
    std::string why = primary ? std::string{} : watch_->failure(now);
    if (why.empty() != unconfirmed_.empty()) {
        has_news_ = true;
        if (why.empty())
            spdlog::info(
                "store {}: {} name {}", shared_.settings.name, watch_->voters(),
                primary->address.text());
        else if (client_->up()) // else the client says so
            spdlog::warn("store {}: {}", shared_.settings.name, why);
    }
    unconfirmed_ = std::move(why);
    std::string slow = slow_failover(watch_->state(), shared_.settings.time_to_live);
    if (!slow.empty() && slow != told_slow_)
        spdlog::warn("store {}: {}", shared_.settings.name, slow);
    told_slow_ = std::move(slow);
}

bool StoreLoop::usable(SteadyTime now) const {
    return client_ && client_->up() && unfit_.empty() && (!watch_ || watch_->confirms(now));
}

void StoreLoop::on_up(const redis::ServerFacts& facts) {
    turn([&](const Now& now) {
        std::string why = unfit(facts, shared_.settings);
        const std::string address = client_->state().address;
        if (why.empty())
            spdlog::info("store {}: {} is up", shared_.settings.name, address);
        else if (why != unfit_)
            spdlog::error("store {}: {} cannot be used: {}", shared_.settings.name, address, why);
        unfit_ = std::move(why);
        connect_again_at_ = unfit_.empty() ? SteadyTime::max() : now.steady + between_checks;
        was_up_ = has_news_ = true;
        pauses_.read_again();
        told_down_.clear();
    });
}

void StoreLoop::on_down(const redis::Failure& why) {
    turn([&](const Now&) {
        if (std::exchange(was_up_, false))
            shared_.counters.downs.fetch_add(1, std::memory_order_relaxed);
        if (why.text != told_down_)
            spdlog::warn("store {}: down: {}", shared_.settings.name, why.text);
        told_down_ = why.text;
        has_news_ = true;
        connect_again_at_ = SteadyTime::max(); // the client does so itself
        waiting_.answer_all(limits::ShareAnswer::failed);
    });
}

void StoreLoop::stop(Duration silence) noexcept {
    turn([&](const Now& now) {
        leave_by_ = now.steady + silence;
        last_leave_by_ = now.steady + 10 * silence;
        longest_silence_ = silence;
        waiting_.answer_all(limits::ShareAnswer::failed);
    });
}

// Sends calls that are due, applies the state of the session to the limits, and sets the timer.
void StoreLoop::go_on(const Now& now) {
    if (leave_by_)
        return go_on_leaving(now);
    if (shares_.session().state() == SessionState::dead)
        begin_session(now);
    SteadyTime next = connect_again_at_;
    if (usable(now.steady)) {
        next = std::min(next, ask_for_locks(now));
        next = std::min(next, shares_.tick(now));
        pauses_.go_on(shares_.session(), now.steady);
        note_learnt(now.steady);
        if (const auto since = shares_.session().unanswered_since(); since && stood_.answers)
            next = std::min(next, *since + shared_.settings.timeout);
        if (const SteadyTime end = shares_.session().ends_at(); now.steady < end)
            next = std::min(next, end);
    }
    report(now);
    arm(next);
}

void StoreLoop::go_on_leaving(const Now& now) {
    if (!usable(now.steady) || now.steady >= *leave_by_ || shares_.leave(now)) {
        context_.stop();
        return;
    }
    const SteadyTime next = shares_.tick(now);
    report(now);
    arm(std::min({next, *leave_by_, now.steady + 50ms}));
}

void StoreLoop::begin_session(const Now& now) {
    spdlog::warn(
        "store {}: it has heard nothing of this gateway for {} ms and passes its shares on; a new "
        "session begins",
        shared_.settings.name, shared_.settings.time_to_live / 1ms);
    shares_.begin(new_terms(), now);
}

void StoreLoop::arm(SteadyTime when) {
    if (when >= armed_for_ || when == SteadyTime::max())
        return;
    armed_for_ = SteadyTime::max();
    timer_.expires_at(std::chrono::time_point_cast<std::chrono::steady_clock::duration>(when));
    timer_.async_wait([this](const ErrorCode& error) {
        if (error)
            return; // armed for another time
        armed_for_ = SteadyTime::max();
        turn([this](const Now& now) {
            if (now.steady >= connect_again_at_ && !leave_by_)
                connect(now.steady); // a server that was unfit tells its facts to a new one only
        });
    });
    armed_for_ = when;
}

void StoreLoop::try_later(SteadyTime now) noexcept try {
    arm(now + between_tries_without_memory);
} catch (const std::exception&) {
    spdlog::error("store {}: ends for want of memory", shared_.settings.name);
    context_.stop(); // nothing would wake it
}

bool StoreLoop::is_overdue(SteadyTime now) const {
    const auto since = shares_.session().unanswered_since();
    return since && now >= *since + shared_.settings.timeout;
}

ServedLimits::Standing StoreLoop::standing(SteadyTime now) const {
    const shared::Session& session = shares_.session();
    const bool active = session.state() == SessionState::active && now < session.ends_at();
    const bool known = session.state() != SessionState::unknown;
    return {
        .ends_at = session.ends_at(),
        .asking = active && usable(now) && !leave_by_,
        .answers = known && usable(now) && !is_overdue(now)};
}

void StoreLoop::report(const Now& now) {
    note_session_state(now.steady);
    const ServedLimits::Standing standing = this->standing(now.steady);
    if (standing != stood_)
        shared_.limits.stand(standing, now.steady);
    const bool changed = standing != std::exchange(stood_, standing);
    if (std::exchange(has_news_, false) || changed ||
        now.steady >= published_at_ + between_publications)
        publish(now);
}

void StoreLoop::note_learnt(SteadyTime now) {
    const std::uint64_t before =
        shared_.counters.learnt_pauses.exchange(pauses_.learnt(), std::memory_order_relaxed);
    const std::uint64_t unshared = shared_.pauses.unshared();
    if (unshared != told_unshared_ && unshared_lines_.pass(now)) {
        spdlog::warn(
            "store {}: other gateways were not told of {} pauses since the start: {} are under way",
            shared_.settings.name, unshared, SharedPauses::most);
        told_unshared_ = unshared;
    }
    if (pauses_.learnt() == before || !learnt_lines_.pass(now))
        return;
    spdlog::info(
        "store {}: pauses here, as other gateways were told by upstreams: {} since the start",
        shared_.settings.name, pauses_.learnt());
}

void StoreLoop::note_session_state(SteadyTime now) {
    const std::string& name = shared_.settings.name;
    const bool withholds = shares_.withholds(now);
    if (const bool before = std::exchange(told_withheld_, withholds); withholds != before) {
        has_news_ = true;
        if (withholds)
            spdlog::warn(
                "store {}: gives nothing yet of what is asked for, as it may have forgotten what "
                "gateways hold: such requests get 503. If no gateway holds any: POST "
                "/stores/{}/trust",
                name, name);
        else
            spdlog::info("store {}: gives shares", name);
    }
    const SessionState state = shares_.session().state();
    if (state == told_state_)
        return;
    const StoreSettings& settings = shared_.settings;
    if (state == SessionState::taken)
        spdlog::error(
            "store {}: another process is gateway {} there, or was and was killed: this one has no "
            "share of any limit until that has ended, or has been silent for {} ms. Each gateway "
            "needs a name of its own",
            settings.name, settings.gateway, settings.time_to_live / 3 / 1ms);
    else if (state == SessionState::foreign)
        spdlog::error(
            "store {}: gateways of another version of Stint use it, which does not keep shares as "
            "this one does: this one has no share of any limit until those have ended",
            settings.name);
    else
        spdlog::info("store {}: the session is {}", settings.name, name_of(state));
    told_state_ = state;
    has_news_ = true;
}

void StoreLoop::publish(const Now& now) {
    published_at_ = now.steady;
    const redis::StoreState client = client_ ? client_->state() : redis::StoreState{};
    const shared::Session& session = shares_.session();
    const bool call_is_later = last_failure_at_ > client.last_error_at;
    shared_.state.set(
        {.up = client.up,
         .address = client.address,
         .up_since = client.up_since,
         .round_trip = client.round_trip,
         .times_up = client.times_up,
         .unfit = unfit_,
         .unconfirmed = unconfirmed_,
         .voters = watch_ ? watch_->state() : std::vector<redis::VoterState>{},
         .last_error = call_is_later ? last_failure_ : client.last_error,
         .last_error_at = call_is_later ? last_failure_at_ : client.last_error_at,
         .session = session.state(),
         .session_name = session.terms().session,
         .epoch = session.epoch(),
         .learned = session.learned(),
         .quiet_span = session.quiet_span(),
         .ends_at = session.ends_at(),
         .asking = stood_.asking,
         .counters = shares_.counters(),
         .withholds = told_withheld_});
}

} // namespace stint::stores
