#include "stores/want_inbox.hpp"

#include <utility>

namespace stint::stores {

WantInbox::Pushed WantInbox::push(Want want) {
    const std::lock_guard lock{mutex_};
    if (closed_)
        return Pushed::refused;
    wants_.push_back(std::move(want));
    return wants_.size() == 1 ? Pushed::first : Pushed::behind;
}

std::vector<Want> WantInbox::take() noexcept {
    const std::lock_guard lock{mutex_};
    return std::exchange(wants_, {});
}

void WantInbox::open() noexcept {
    const std::lock_guard lock{mutex_};
    closed_ = false;
}

void WantInbox::close() noexcept {
    const std::lock_guard lock{mutex_};
    closed_ = true;
}

} // namespace stint::stores
