#include "runtime/destroyed_on.hpp"

#include <boost/asio/post.hpp>

#include <new>
#include <utility>

namespace stint::runtime {

routing::SnapshotPtr destroyed_on(net::Executor executor, routing::SnapshotPtr snapshot) {
    const routing::Snapshot* const shown = snapshot.get();
    const auto hand_over = [executor = std::move(executor), owned = std::move(snapshot)](
                               const routing::Snapshot*) mutable noexcept {
        try {
            net::asio::post(executor, [last = std::move(owned)] {});
        } catch (const std::bad_alloc&) {
            owned.reset(); // out of memory: destroys the snapshot on this thread
        }
    };
    return {shown, hand_over};
}

} // namespace stint::runtime
