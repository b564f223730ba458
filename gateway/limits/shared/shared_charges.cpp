#include "limits/shared/shared_charges.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

namespace stint::limits {

void SharedCharges::Request::cancel() noexcept {
    if (Record* const record = record_)
        of_->give_up(*record, answer_ ? answer_->would_refuse : 0);
    answer_.reset();
}

void SharedCharges::Request::hand_over(Permit& permit, std::size_t first, const Now& now) {
    assert(record_ != nullptr && answer_ && answer_->outcome == SharedAnswer::Outcome::granted);
    permit.hold_shared(
        of_->counters_, record_->number, {record_->charges.data(), record_->charges.size()},
        {.first = first, .not_charged = answer_->would_refuse}, now);
    of_->forget(*std::exchange(record_, nullptr));
}

bool SharedCharges::ByDeadline::operator()(const Record& a, const Record& b) const noexcept {
    return a.answer_by < b.answer_by;
}

SharedCharges::SharedCharges(SharedCounters& counters) noexcept : counters_{counters} {}

SharedCharges::~SharedCharges() {
    assert(by_deadline_.empty());
}

// Returns a number unique in the process, so that one client can serve all workers.
std::uint64_t SharedCharges::next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The charges' limits live as long as the record: a grant may come when the request and its
// configuration have gone.
SharedCharges::Record& SharedCharges::make_record(std::span<const Charge> charges) {
    spare_.reserve(records_.size() + spare_.size() + 1); // so that forget() never fails
    Records::node_type node;
    if (spare_.empty()) {
        node = records_.extract(records_.try_emplace(0).first);
    } else {
        node = std::move(spare_.back());
        spare_.pop_back();
    }
    Record& record = node.mapped();
    record.charges.assign(charges.begin(), charges.end());
    for (const Charge& each : charges)
        record.limits.push_back(each.limit->weak_from_this().lock());
    record.number = next_number();
    record.answered = false;
    node.key() = record.number;
    records_.insert(std::move(node));
    return record;
}

bool SharedCharges::Request::post(
    SharedCharges& to, std::span<const Charge> charges, SteadyTime answer_by, const Now& now) {
    assert(record_ == nullptr && to.posting_ == nullptr);
    to.latest_ = now;
    Record& record = to.make_record(charges);
    record.answer_by = answer_by;
    record.request = this;
    of_ = &to;
    record_ = &record;
    answer_.reset();
    to.by_deadline_.insert(record);
    to.posting_ = this;
    to.counters_.charge(record.number, charges, answer_by, now);
    to.posting_ = nullptr;
    return answer_.has_value();
}

void SharedCharges::answer(std::uint64_t number, SharedAnswer answer) noexcept {
    const auto found = records_.find(number);
    assert(found != records_.end() && !found->second.answered);
    Record& record = found->second;
    record.answered = true;
    const bool granted = answer.outcome == SharedAnswer::Outcome::granted;
    Request* const request = record.request;
    if (request == nullptr) {
        if (granted)
            give_back(record, answer.would_refuse);
        return forget(record);
    }
    by_deadline_.erase(by_deadline_.iterator_to(record));
    request->answer_ = std::move(answer);
    if (!granted) { // the store holds no charge
        leave(record);
        forget(record);
    }
    if (request != posting_)
        request->answered();
}

SteadyTime SharedCharges::expire(const Now& now) noexcept {
    latest_ = now;
    while (!by_deadline_.empty() && by_deadline_.begin()->answer_by <= now.steady) {
        Record& record = *by_deadline_.begin();
        Request& request = *record.request;
        give_up(record, 0);
        request.answer_.emplace(); // failed
        request.answered();
    }
    return by_deadline_.empty() ? SteadyTime::max() : by_deadline_.begin()->answer_by;
}

void SharedCharges::leave(Record& record) noexcept {
    record.request->record_ = nullptr;
    record.request = nullptr;
}

// Detaches a request that ends before its answer, or with a grant that it has not handed over.
void SharedCharges::give_up(Record& record, std::uint32_t not_charged) noexcept {
    leave(record);
    if (record.answered) {
        give_back(record, not_charged);
        return forget(record);
    }
    by_deadline_.erase(by_deadline_.iterator_to(record));
    counters_.cancel(record.number); // which may answer at once
}

void SharedCharges::give_back(const Record& record, std::uint32_t not_charged) noexcept {
    for (std::size_t i = 0; i < record.charges.size(); ++i) {
        const Charge& charge = record.charges[i];
        if ((not_charged >> i & 1U) == 0)
            counters_.give_back({record.number, i, charge.limit, charge.key, charge.cost});
    }
}

void SharedCharges::forget(Record& record) noexcept {
    record.limits.clear();
    record.request = nullptr;
    spare_.push_back(records_.extract(record.number));
}

} // namespace stint::limits
