// The interface between a downstream connection, whatever protocol it speaks, and the code that
// answers its requests.
#pragma once

#include "base/object_pool.hpp"
#include "net/types.hpp"
#include "server/settings.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace stint::server {

class ClientStream;

// The next step of a request. Most need no coroutine, and so no memory, of their own.
enum class Step : std::uint8_t {
    done,    // finish()
    pending, // the handler calls ClientStream::resume() with another step, not within this call
    rest     // co_await rest(), then finish()
};

// How a request has ended, for its connection.
struct RequestEnd {
    bool clean = false; // nothing failed: the connection may carry another request
    bool reset = false; // the response was cut short: the client must not take it for the whole
    bool gone = false;  // the client has gone
};

// Handles one request, on the thread of its connection, which owns it. Destroyed after finish().
// Calls nothing of its stream after that.
class RequestHandler {
  public:
    RequestHandler() = default;
    RequestHandler(const RequestHandler&) = delete;
    RequestHandler& operator=(const RequestHandler&) = delete;

    // Begins. The stream has the request's head and what has come of its body.
    [[nodiscard]] virtual Step on_request() = 0;
    // Answers a request that cannot be read: its head, or the beginning of its body. The stream's
    // head is empty if it could not be parsed. Nothing behind it can be read either. detail: a
    // literal.
    [[nodiscard]] virtual Step on_bad_request(int status, std::string_view detail) = 0;
    // Runs the steps that need a coroutine. May throw: the connection ends then.
    [[nodiscard]] virtual net::Task<> rest() = 0;
    // Ends the request, which holds nothing afterwards.
    [[nodiscard]] virtual RequestEnd finish() = 0;

    // The client has closed or reset, and no longer waits for the response. Called at any time
    // before finish(), also more than once; a pending wait ends soon.
    virtual void on_client_gone() noexcept = 0;
    // The gateway drains. Called with every tick from then on. An endless response, such as a
    // stream of events, ends.
    virtual void on_drain() noexcept {}
    // Checks whether a connection that was taken over was reset. Called with every tick while
    // ClientStream::watch_for_reset() is on.
    virtual void poll_tunnel() noexcept {}
    // Waits until no other coroutine refers to this object. After on_client_gone().
    [[nodiscard]] virtual net::Task<> join() { co_return; }

  protected:
    ~RequestHandler() = default;
};
using RequestHandlerPtr = std::unique_ptr<RequestHandler, Recycle<RequestHandler>>;

// State that a Service keeps for each connection. Destroyed when it has closed.
class Session {
  public:
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    virtual ~Session() = default;

    // True while the connection has to stay open, however long it is silent.
    [[nodiscard]] virtual bool keeps_open() { return false; }
    // The client has every byte of the responses so far, as far as its socket tells.
    virtual void on_all_sent() noexcept {}
    // The gateway ends the connection, and not the client.
    virtual void on_abort() noexcept {}
};

// The code that answers the requests of some listeners on one event loop. Outlives the loop, in
// which its connections end.
class Service {
  public:
    // Valid until the next suspension.
    [[nodiscard]] virtual const ConnectionSettings& settings() const noexcept = 0;
    // Opens a connection's session; null: it needs none. Throws if there is no memory.
    [[nodiscard]] virtual std::unique_ptr<Session> open_session() { return nullptr; }
    // Makes the handler of one request. Throws if there is no memory.
    [[nodiscard]] virtual RequestHandlerPtr make_handler(ClientStream& stream) = 0;
    // Counts a connection of this service that was opened, or closed.
    virtual void on_connections(int change) noexcept = 0;

  protected:
    ~Service() = default;
};

} // namespace stint::server
