#include "limits/shared/share_requests.hpp"

#include <cassert>
#include <utility>

namespace stint::limits {

ShareRequests::~ShareRequests() {
    assert(by_number_.empty());
}

void ShareRequests::Request::begin(ShareRequests& of, std::size_t wants) {
    assert(of_ == nullptr && wants > 0);
    const auto made = of.by_number_.emplace(of.last_number_ + 1, this).first;
    try {
        of.expect(wants);
    } catch (...) {
        of.by_number_.erase(made);
        throw;
    }
    of_ = &of;
    number_ = ++of.last_number_;
    unanswered_ = wants;
}

void ShareRequests::Request::ask(ShareSource& source, const ShareWanted& wanted) noexcept {
    source.want(wanted, number_, *of_);
}

void ShareRequests::Request::cancel() noexcept {
    if (ShareRequests* const of = std::exchange(of_, nullptr))
        of->by_number_.erase(number_);
}

void ShareRequests::expect(std::size_t answers) {
    const std::lock_guard lock{mutex_};
    const std::size_t room = inbox_.size() + expected_ + answers;
    if (room > inbox_.capacity())
        inbox_.reserve(2 * room);
    expected_ += answers;
}

void ShareRequests::ask(ShareSource& source, const ShareWanted& wanted) {
    expect(1);
    source.want(wanted, ++last_number_, *this);
}

void ShareRequests::answer(std::uint64_t number, ShareAnswer answer) noexcept {
    {
        const std::lock_guard lock{mutex_};
        assert(expected_ > 0 && inbox_.size() < inbox_.capacity());
        expected_ -= 1;
        inbox_.push_back({number, answer});
        if (inbox_.size() > 1)
            return; // deliver() is on its way
    }
    notify();
}

void ShareRequests::deliver() noexcept {
    for (;;) {
        Answered next{};
        {
            const std::lock_guard lock{mutex_};
            if (inbox_.empty())
                return;
            next = inbox_.back(); // their order does not matter
            inbox_.pop_back();
        }
        const auto found = by_number_.find(next.number);
        if (found == by_number_.end())
            continue; // its wait has ended
        Request& request = *found->second;
        request.unanswered_ -= 1;
        if (request.unanswered_ > 0 && next.answer == ShareAnswer::told)
            continue;
        request.cancel();
        request.answered(next.answer);
    }
}

} // namespace stint::limits
