// A reply that has to wait, for a turn in a queue, a store's answer or a write to the state file.
#pragma once

#include "base/object_pool.hpp"
#include "http/head_buffer.hpp"
#include "http/response.hpp"
#include "net/types.hpp"

#include <memory>

namespace stint::permits {

// Lives on one worker. Destroying it while it waits refunds its charges and frees its slots.
class DeferredReply {
  public:
    DeferredReply() = default;
    DeferredReply(const DeferredReply&) = delete;
    DeferredReply& operator=(const DeferredReply&) = delete;

    // Usage: co_await wait(), then call settle(), unless the client has gone. Repeat both until
    // settle() returns true: the reply is known. wait() ends at once if there is nothing to wait
    // for.
    [[nodiscard]] virtual net::Task<> wait() = 0;
    [[nodiscard]] virtual bool settle() = 0;
    // Gives up because the client has gone: wait() ends with a later turn of the worker's event
    // loop, not within this call. Idempotent.
    virtual void give_up() noexcept = 0;

    // Another process of the gateway serves now, and this one ends with its connections. A wait for
    // what only that one decides ends as after give_up(), with a refusal. Idempotent.
    virtual void on_replaced() noexcept {}

    // True if what is waited for is not a decision: it is made. give_up() would undo it.
    [[nodiscard]] virtual bool is_decided() const noexcept { return false; }

    // Makes the response. Requires: settle() was true.
    virtual void respond(http::Response& to) = 0;
    // True if the response is a stream. Then write_more() is called once a second and appends the
    // next event to the body, while the client stays connected. write_more() returns false with the
    // last event.
    [[nodiscard]] virtual bool streams() const noexcept { return false; }
    [[nodiscard]] virtual bool write_more(http::HeadBuffer&) { return false; }

  protected:
    ~DeferredReply() = default;
};

using PendingPtr = std::unique_ptr<DeferredReply, Recycle<DeferredReply>>;

} // namespace stint::permits
