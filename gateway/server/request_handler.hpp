// The interface between a downstream connection, whatever protocol it speaks, and the code that
// answers its requests.
#pragma once

#include "base/object_pool.hpp"
#include "base/time.hpp"
#include "net/types.hpp"
#include "server/settings.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace stint::server {

class ClientStream;

// The next step of a request. Most requests need no coroutine of their own, and no memory for one.
enum class Step : std::uint8_t {
    done,    // the connection calls finish()
    pending, // the handler calls ClientStream::resume() with another step, not within this call
    rest     // the connection awaits rest(), then calls finish()
};

// How a request has ended, for its connection.
struct RequestEnd {
    bool clean = false; // nothing failed: the connection may carry another request
    bool reset = false; // the response was cut short: the client must not take it for the whole
    bool gone = false;  // the client has gone
    // Nothing was decided about the request, and nothing of it was sent: Totals::successor takes
    // it. See RequestHandler::given_back().
    bool given_back = false;
};

// A request that was given back, as its handler knows it.
struct GivenBack {
    // The body, if the handler has read it beyond what came with the head. Valid as long as the
    // handler.
    std::optional<std::string_view> body{};
    SteadyTime since{}; // when the request began to wait
};

// Handles one request, on the thread of its connection. The connection owns the handler, and
// destroys it after finish(). The handler must not call its stream after finish().
class RequestHandler {
  public:
    RequestHandler() = default;
    RequestHandler(const RequestHandler&) = delete;
    RequestHandler& operator=(const RequestHandler&) = delete;

    // Begins to handle the request. The stream has its head and the bytes of its body received so
    // far.
    [[nodiscard]] virtual Step on_request() = 0;
    // Answers a request whose head, or the beginning of whose body, is malformed or late. The
    // stream's head is empty if it could not be parsed. No later request of the connection can be
    // read. detail: a string literal.
    [[nodiscard]] virtual Step on_bad_request(int status, std::string_view detail) = 0;
    // Runs the steps that need a coroutine. May throw: the connection ends then.
    [[nodiscard]] virtual net::Task<> rest() = 0;
    // Ends the request, and releases all that it holds.
    [[nodiscard]] virtual RequestEnd finish() = 0;
    // Describes a request that was given back. Requires: finish() has said so.
    [[nodiscard]] virtual GivenBack given_back() const { return {}; }

    // Called when the client has closed or reset its connection, and no longer waits for the
    // response: at any time before finish(), also more than once. A pending wait has to end soon.
    virtual void on_client_gone() noexcept = 0;
    // Called with every tick while the gateway drains. Ends an endless response, such as a stream
    // of events.
    virtual void on_drain() noexcept {}
    // Called with every tick while another process decides about all requests (Totals::successor).
    // A request that waits for a decision has to give itself back soon (RequestEnd::given_back),
    // even if it was admitted meanwhile: it undoes that. One that goes on does nothing here.
    virtual void on_hand_over() noexcept {}
    // Checks whether a connection that was taken over was reset. Called with every tick while
    // ClientStream::watch_for_reset() is on.
    virtual void poll_tunnel() noexcept {}
    // Waits until no other coroutine refers to this object. Called after on_client_gone().
    [[nodiscard]] virtual net::Task<> join() { co_return; }

  protected:
    ~RequestHandler() = default;
};
using RequestHandlerPtr = std::unique_ptr<RequestHandler, Recycle<RequestHandler>>;

// State that a Service keeps for each connection. Destroyed when the connection has closed.
class Session {
  public:
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    virtual ~Session() = default;

    // True while the connection has to stay open, however long it is silent.
    [[nodiscard]] virtual bool keeps_open() { return false; }
    // True while a request is under way after which keeps_open() may be true.
    [[nodiscard]] virtual bool may_keep_open() noexcept { return false; }
    // Called when all bytes so far of the response to a request were given to the client's socket.
    // stream: its RequestHead::stream; 0: all responses so far.
    virtual void on_sent(std::uint32_t /*stream*/) noexcept {}
    // Called when the client has ended a request, and not the connection, before on_sent().
    virtual void on_unsent(std::uint32_t /*stream*/) noexcept {}
    // Called when the gateway, and not the client, ends the connection.
    virtual void on_abort() noexcept {}
};

// The code that answers the requests of some listeners on one event loop. Must outlive the loop,
// because its connections end with the loop.
class Service {
  public:
    // Returns the settings of the service's connections, valid until the next co_await.
    [[nodiscard]] virtual const ConnectionSettings& settings() const noexcept = 0;
    // Opens a connection's session; null: it needs none. Throws if there is no memory.
    [[nodiscard]] virtual std::unique_ptr<Session> open_session() { return nullptr; }
    // Makes the handler of one request. Throws if there is no memory.
    [[nodiscard]] virtual RequestHandlerPtr make_handler(ClientStream& stream) = 0;
    // True for the service of permits and locks.
    [[nodiscard]] virtual bool grants_permits() const noexcept { return false; }
    // Called with 1 when a connection of this service was opened, and with -1 when it was closed.
    virtual void on_connections(int change) noexcept = 0;

  protected:
    ~Service() = default;
};

} // namespace stint::server
