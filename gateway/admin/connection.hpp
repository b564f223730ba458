// One client of the admin listener: reads its requests one after the other and answers them.
#pragma once

#include "admin/connections.hpp"
#include "admin/message.hpp"
#include "admin/service.hpp"
#include "base/error.hpp"
#include "http/head_parser.hpp"
#include "http/local_reply.hpp"
#include "net/io.hpp"
#include "net/types.hpp"
#include "tls/ssl.hpp"

#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stint::admin {

inline constexpr std::size_t max_head = 16 * 1024;
inline constexpr std::size_t max_body = 64 * 1024;
inline constexpr std::size_t max_connections = 64;
// The timeout of waiting for a whole request, and again of answering it.
inline constexpr std::chrono::seconds longest_wait{30};

// State that all connections share; lives as long as any of them.
struct Shared {
    explicit Shared(Service for_all) : service{std::move(for_all)} {}

    Service service;
    Connections connections{max_connections, longest_wait};
    http::HeadParser parser{max_head}; // scratch, valid until the next suspension
    http::DateClock dates;
};

// A connection on the control thread. Closing its socket, from any place, ends it.
class Connection final : public Bounded {
  public:
    // ssl: nullptr on a plain listener.
    Connection(std::shared_ptr<Shared> shared, net::Socket socket, tls::SslPtr ssl);

    static net::Task<> serve(std::unique_ptr<Connection> self);

  private:
    void close() noexcept override;
    void begin();
    net::Task<bool> shake_hands();
    net::Task<> serve_all();
    net::Task<bool> serve_one();
    net::Task<std::size_t> read_head();
    net::Task<Result<void, http::HeadError>> read_body(BodyFraming framing, std::string& body);
    net::Task<bool> read_more();
    net::Task<Response> answer_safely(Request request);
    net::Task<bool> send(Response response, bool head_only, bool keep_alive);
    net::Task<bool> write(std::string_view head, std::string_view body);
    net::Task<bool> write_plain(net::Gather gather);
    net::Task<bool> write_sealed(std::string_view head, std::string_view body);
    net::Task<bool> refuse(int status, std::string_view detail);
    net::Task<> linger();

    std::shared_ptr<Shared> shared_;
    net::Socket socket_;
    std::optional<net::asio::ssl::stream<net::Socket&>> tls_; // over socket_
    std::string input_;                                       // received and not yet used
    std::array<char, 4096> chunk_{};
};

} // namespace stint::admin
