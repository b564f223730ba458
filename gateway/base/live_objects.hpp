// A map from keys to objects that does not keep the objects alive.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace stint {

// Not thread-safe.
template <class Key, class T>
class LiveObjects {
  public:
    // Returns the live object of this key. If there is none, returns what make() returns, a
    // std::shared_ptr<T>, and finds that from then on. On average O(log n).
    template <class Make>
    [[nodiscard]] std::shared_ptr<T> obtain(const Key& key, Make make) {
        if (known_.size() >= sweep_from_) { // rare, so that a call costs little on average
            std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
            sweep_from_ = 2 * known_.size() + least;
        }
        std::weak_ptr<T>& known = known_[key];
        if (std::shared_ptr<T> alive = known.lock())
            return alive;
        std::shared_ptr<T> made = make();
        known = made;
        return made;
    }

    // Returns all live objects, in the order of their keys.
    [[nodiscard]] std::vector<std::shared_ptr<T>> alive() const {
        std::vector<std::shared_ptr<T>> alive;
        for (const auto& [key, known] : known_)
            if (std::shared_ptr<T> object = known.lock())
                alive.push_back(std::move(object));
        return alive;
    }

    // Returns the number of entries, including those of objects that have gone and are not
    // forgotten yet.
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

  private:
    static constexpr std::size_t least = 16;

    std::map<Key, std::weak_ptr<T>> known_;
    std::size_t sweep_from_ = least; // number of entries at which those of dead objects are dropped
};

} // namespace stint
