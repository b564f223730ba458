// Handles one request to the admin listener, from reading the body to sending the response.
#pragma once

#include "admin/message.hpp"
#include "admin/service.hpp"
#include "http/response.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/types.hpp"
#include "server/client_stream.hpp"
#include "server/loop.hpp"
#include "server/request_handler.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace stint::admin {

// The handler of one request. Used on the control thread.
class RequestHandler final : public server::RequestHandler, private net::Deadline {
  public:
    static constexpr std::size_t max_head = 16 * 1024;
    // Timeout for receiving a head, for receiving a body, and for each write of a response to make
    // progress.
    static constexpr std::chrono::seconds timeout{30};
    static constexpr std::chrono::seconds between_events{1};

    RequestHandler(Service& service, server::Loop& loop, server::ClientStream& stream) noexcept
        : service_{service}, loop_{loop}, stream_{stream} {}

    [[nodiscard]] server::Step on_request() override;
    [[nodiscard]] server::Step on_bad_request(int status, std::string_view detail) override;
    [[nodiscard]] net::Task<> rest() override;
    [[nodiscard]] server::RequestEnd finish() override;
    void on_client_gone() noexcept override;
    void on_drain() noexcept override;

  private:
    net::Task<Response> answer_safely(Request request);
    // Sends the response as an event, then answers the request again every second. Ends when the
    // client disconnects, or after an event with an error. Goes on while the gateway drains,
    // because the admin listener closes last; ends if another process has its place.
    net::Task<> send_events(Request request, Response response);
    net::Task<bool> send_event(std::string event);
    void refuse(int status, std::string_view detail);
    void send(const Response& response);
    void on_deadline() noexcept override;

    Service& service_;
    server::Loop& loop_;
    server::ClientStream& stream_;
    http::Response response_;
    std::string event_; // the event that is being sent
    bool timed_out_ = false;
    bool gone_ = false;
    net::Event next_event_; // signalled when the next event is due, or the client has disconnected
};

} // namespace stint::admin
