#include "net/deadlines.hpp"

#include <algorithm>

namespace stint::net {

void Deadlines::arm(Deadline& deadline, Duration length, SteadyTime now) {
    deadline.disarm();
    auto lane = std::find_if(
        lanes_.begin(), lanes_.end(), [length](const Lane& each) { return each.length == length; });
    if (lane == lanes_.end())
        lane = lanes_.insert(lanes_.end(), Lane{length, std::make_unique<List>()});
    // A coarse clock may stand behind one read before; the list must stay sorted all the same.
    deadline.at_ = now + length;
    if (!lane->list->empty() && lane->list->back().at_ > deadline.at_)
        deadline.at_ = lane->list->back().at_;
    lane->list->push_back(deadline);
}

void Deadlines::expire(SteadyTime now) {
    // Iterates by index, because a callback may arm a new length, which grows lanes_.
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        List& list = *lanes_[i].list;
        const auto later = std::find_if(
            list.begin(), list.end(), [now](const Deadline& each) { return each.at_ > now; });
        // Takes it off the list before the call: it may arm itself again, and is not due twice.
        List due;
        due.splice(due.end(), list, list.begin(), later);
        while (!due.empty()) {
            Deadline& next = due.front();
            due.pop_front();
            next.on_deadline();
        }
    }
    // Forgets the lengths that a former configuration used, once no deadline has them.
    constexpr std::size_t usual = 16;
    if (lanes_.size() > usual)
        std::erase_if(lanes_, [](const Lane& lane) { return lane.list->empty(); });
}

bool Deadlines::empty() const noexcept {
    return std::all_of(
        lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.list->empty(); });
}

} // namespace stint::net
