#include "net/deadlines.hpp"

#include <algorithm>

namespace stint::net {

void Deadlines::arm(Deadline& deadline, Duration length, SteadyTime now) {
    deadline.disarm();
    auto lane = std::find_if(
        lanes_.begin(), lanes_.end(), [length](const Lane& each) { return each.length == length; });
    if (lane == lanes_.end())
        lane = lanes_.insert(lanes_.end(), Lane{length, std::make_unique<List>()});
    // A coarse clock may be behind the clock of an earlier call. The list must stay sorted all the
    // same.
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
        // Takes the due deadlines off the list first: a deadline that arms itself again must not
        // expire twice in this call.
        List due;
        due.splice(due.end(), list, list.begin(), later);
        while (!due.empty()) {
            Deadline& next = due.front();
            due.pop_front();
            next.on_deadline();
        }
    }
    // Removes the lists that are empty once there are many, such as those of the lengths of a
    // former configuration.
    constexpr std::size_t usual = 16;
    if (lanes_.size() > usual)
        std::erase_if(lanes_, [](const Lane& lane) { return lane.list->empty(); });
}

bool Deadlines::empty() const noexcept {
    return std::all_of(
        lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.list->empty(); });
}

} // namespace stint::net
