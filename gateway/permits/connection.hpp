// One caller's connection: its requests, one after the other, also when they are pipelined.
#pragma once

#include "http/body_decoder.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/handler_memory.hpp"
#include "net/io.hpp"
#include "net/types.hpp"
#include "permits/call.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/service.hpp"
#include "server/connection_slot.hpp"
#include "routing/client_address.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::permits {

// Lives on its worker; the coroutine owns it. While a reply has to wait the connection is watched:
// a caller that disconnects loses its place in the queue. Leases that are bound to the connection
// end with it, unless it is the gateway that ends.
class Connection final : public ConnectionHandle, public server::Sheddable, private net::Deadline {
  public:
    Connection(
        Service& service,
        server::ConnectionSlot slot,
        net::Socket socket,
        const net::Endpoint& peer);
    ~Connection();
    void drain() noexcept override;
    void abort() noexcept override;
    void shed() noexcept override;

    // Never throws out of the coroutine.
    static net::Task<> serve(std::unique_ptr<Connection> self);

    static constexpr std::size_t max_head = 16 * 1024;
    static constexpr std::size_t max_body = 64 * 1024;
    static constexpr std::size_t first_buffer = 4 * 1024; // grows as requests need it

  private:
    // The purpose of the armed deadline.
    enum class Phase : std::uint8_t { request, idle, parked, waiting, streaming, linger, pause };
    // The outcome of handling the received bytes.
    enum class Step : std::uint8_t {
        more,   // a request is not complete yet
        body,   // its body has to be read piece by piece
        wait,   // pending_ has to be waited for
        done,   // answered
        stream, // answered, and more of pending_ follows
        refuse, // answered, and what follows cannot be understood
        gone    // no caller is left to answer
    };

    enum class Sent : std::uint8_t { all, part, failed };

    net::Task<> serve_all();
    [[nodiscard]] bool more_to_answer() const noexcept;
    net::Task<Step> take_slowly(Step step);
    net::Task<> give_up();
    [[nodiscard]] Step take_request();
    [[nodiscard]] Step take_head(std::string_view head);
    [[nodiscard]] Step call(const RequestHead& head, std::string_view body, std::size_t consumed);
    [[nodiscard]] Step reject(int status, std::string_view detail);
    net::Task<Step> read_body();
    net::Task<Step> wait_for_answer();
    net::Task<> stream();
    [[nodiscard]] bool is_watched() const noexcept;
    void leave() noexcept;
    void begin_reading();
    [[nodiscard]] bool end_reading(const ErrorCode& error, std::size_t size);
    [[nodiscard]] bool take_arrived();
    void forget_large();
    net::Task<bool> read_more();
    [[nodiscard]] Sent send_now();
    net::Task<Sent> send_rest();
    net::Task<Sent> flush();
    net::Task<> close_gently();
    void watch();
    net::Task<> stop_watching();
    void on_readable(const ErrorCode& error);
    [[nodiscard]] bool listen_on();
    [[nodiscard]] std::span<char> room();
    void write_response();
    void arm(Phase phase);
    void on_deadline() noexcept override;

    Service& service_;
    server::ConnectionSlot slot_;
    net::Socket socket_;
    routing::ClientAddress peer_;
    net::HandlerMemory read_memory_;
    std::vector<char> buffer_; // [begin_, end_) of it was received and not consumed
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0; // how much of it has been searched for the end of a head
    std::size_t head_size_ = 0;
    http::BodyDecoder decoder_{{}};
    std::string body_;             // a body that did not come in one piece
    std::string pending_response_; // bytes that the socket did not take at once
    ConnectionLeases connection_leases_;
    PendingPtr pending_;
    net::Event watched_; // signalled when the wait for more input, or a pause, ends
    Phase phase_ = Phase::request;
    bool keep_alive_ = true;
    bool head_request_ = false;
    std::uint8_t minor_ = 1;
    bool watching_ = false;
    bool gone_ = false; // the caller has disconnected
    bool reading_ = false;
    bool streaming_ = false;
    bool served_ = false;    // at least one request
    bool timed_out_ = false; // before a request was complete
    bool empty_line_passed_ = false;
};

} // namespace stint::permits
