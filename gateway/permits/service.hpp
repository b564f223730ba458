// Serves permits and locks on one worker: its connections, and what they share.
#pragma once

#include "net/types.hpp"
#include "permits/acquire_operation.hpp"
#include "permits/acquire_request.hpp"
#include "permits/checked_request.hpp"
#include "permits/lock_operation.hpp"
#include "permits/persistence_waits.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"
#include "server/connection_slot.hpp"
#include "server/object_pool.hpp"

#include <boost/intrusive/list.hpp>

namespace stint::permits {

using ConnectionHook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct ServedTag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// A caller's connection as its service sees it.
class ConnectionHandle : public ConnectionHook {
  public:
    ConnectionHandle() = default;
    ConnectionHandle(const ConnectionHandle&) = delete;
    ConnectionHandle& operator=(const ConnectionHandle&) = delete;

    // Ends the connection soon if no request is under way; otherwise after the reply.
    virtual void drain() noexcept = 0;
    // Ends the connection now: a request in a queue loses its place.
    virtual void abort() noexcept = 0;

  protected:
    ~ConnectionHandle() = default;
};

// Not thread-safe; outlives the worker's loop, in which its connections end.
class Service {
  public:
    Service(proxy::Context& worker, Shared& for_all)
        : context{worker}, shared{for_all}, persistence_waits{for_all.locks, worker.executor} {}
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    // Answers every request on this connection. Throws if there is no memory for it.
    void serve(server::ConnectionSlot slot, net::Socket socket, const net::Endpoint& peer);

    // Ends every connection that has no request under way, soon; the others after their replies. To
    // be called again and again while Context::draining.
    void drain() noexcept;
    // Ends all of them now.
    void abort() noexcept;
    // Ends callbacks from other threads, before the worker's event loop ends.
    void detach() noexcept { persistence_waits.detach(); }
    // As Context::tick().
    void tick() { persistence_waits.resume_finished(); }

    // --- for its connections ---
    proxy::Context& context;
    Shared& shared;
    RequestReader request_reader; // scratch, good until the next suspension
    server::ObjectPool<AcquireOperation> acquire_operations;
    server::ObjectPool<CheckedRequest> checked_requests;
    PersistenceWaits persistence_waits;
    server::ObjectPool<LockOperation> lock_operations;

  private:
    boost::intrusive::list<
        ConnectionHandle,
        boost::intrusive::base_hook<ConnectionHook>,
        boost::intrusive::constant_time_size<false>>
        connections_;
};

} // namespace stint::permits
