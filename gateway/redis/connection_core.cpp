// A connection's bytes and time: connecting, writing, deadlines.
#include "redis/connection_core.hpp"

#include "net/address.hpp"
#include "net/clock.hpp"
#include "tls/client.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::size_t input_size = 16 * 1024;
constexpr std::string_view ping = "*1\r\n$4\r\nPING\r\n";

std::string milliseconds(Duration length) {
    return std::to_string(ceil_ms(length)) + " ms";
}

} // namespace

Connection::Core::Core(
    const net::Executor& executor,
    Address address,
    std::shared_ptr<const ConnectionSettings> settings,
    Owner& owner)
    : address_{std::move(address)}, settings_{std::move(settings)}, owner_{&owner},
      stream_{executor}, timer_{executor}, handshake_{settings_->login}, parser_{
                                                                             settings_->bounds} {}

void Connection::Core::start() {
    begun_ = net::read_steady_clock();
    arm();
    net::spawn(stream_.socket().get_executor(), run(shared_from_this()));
}

void Connection::Core::drop() noexcept {
    owner_ = nullptr;
    over_ = true;
    net::close(stream_);
    timer_.cancel();
    const std::deque<Command> forgotten = std::move(in_flight_);
}

net::Task<> Connection::Core::run(std::shared_ptr<Core> self) {
    std::string failure;
    try {
        co_await self->connect_and_read();
    } catch (const std::exception& thrown) {
        failure = thrown.what(); // for example no memory
    }
    if (!failure.empty())
        self->fail(Failure::Kind::broken, failure);
}

net::Task<> Connection::Core::connect_and_read() {
    // The constructor of the handle returns first, even where a connect fails at once.
    co_await net::yield_to_others(stream_.socket());
    if (over_)
        co_return;
    const bool connected = co_await connect();
    if (!connected)
        co_return;
    handshake_.write(sending_);
    unsent_.add(sending_);
    const ErrorCode unsaid = co_await net::send_all(stream_, unsent_);
    if (unsaid && !over_)
        fail(Failure::Kind::unreachable, text_of(unsaid));
    input_.resize(input_size);
    while (!over_) {
        auto [error, size] = co_await net::read_some(stream_, input_, read_memory_);
        if (over_)
            co_return;
        if (error)
            fail(
                Failure::Kind::broken,
                error == net::asio::error::eof ? "closed by the server" : text_of(error));
        else
            take_in({input_.data(), size});
    }
}

net::Task<bool> Connection::Core::connect() {
    net::Socket& socket = stream_.socket();
    ErrorCode error;
    socket.open(address_.endpoint.protocol(), error);
    if (!error) {
        auto [failed] = co_await socket.async_connect(address_.endpoint, net::as_result);
        error = failed;
    }
    if (over_)
        co_return false;
    if (error) {
        fail(Failure::Kind::unreachable, text_of(error));
        co_return false;
    }
    ErrorCode ignored;
    if (!net::is_unix(address_.endpoint))
        socket.set_option(net::asio::ip::tcp::no_delay{true}, ignored);
    if (!settings_->tls)
        co_return true;
    const bool agreed = co_await shake_hands();
    co_return agreed;
}

net::Task<bool> Connection::Core::shake_hands() {
    stream_.begin_tls(settings_->tls->connect(address_.server_name));
    const ErrorCode error = co_await net::handshake(stream_);
    // No co_await in between: OpenSSL's error queue belongs to the thread.
    std::string reason;
    if (error)
        reason = tls::reason_of_failure(stream_.tls()->ssl(), address_.server_name);
    if (over_)
        co_return false;
    if (error)
        fail(Failure::Kind::unreachable, "TLS: " + reason);
    co_return !error;
}

void Connection::Core::append(std::string_view command, ReplyHandler handler, bool subscribes) {
    const std::uint64_t end = accepted_ + command.size();
    in_flight_.push_back(
        {std::move(handler), net::read_steady_clock(), accepted_, end, subscribes});
    queued_.append(command);
    accepted_ = end;
    if (!flush_posted_ && !awaits_room_) {
        net::asio::post(
            stream_.socket().get_executor(), [self = shared_from_this()] { self->flush(); });
        flush_posted_ = true;
    }
    arm();
}

void Connection::Core::flush() {
    flush_posted_ = false;
    if (over_)
        return;
    while (!unsent_.empty() || !queued_.empty()) {
        if (unsent_.empty()) {
            sending_.clear();
            std::swap(sending_, queued_);
            unsent_.clear();
            unsent_.add(sending_);
        }
        const std::size_t offered = unsent_.bytes();
        const ErrorCode error = net::write_now(stream_, unsent_);
        taken_ += offered - unsent_.bytes();
        if (error)
            return fail(Failure::Kind::broken, text_of(error));
        if (!unsent_.empty())
            return await_room();
    }
}

void Connection::Core::await_room() {
    awaits_room_ = true;
    stream_.socket().async_wait(
        net::Socket::wait_write, [self = shared_from_this()](const ErrorCode&) {
            self->awaits_room_ = false;
            self->flush(); // a socket that has failed says so again
        });
}

Written Connection::Core::written(const Command& command) noexcept {
    // TLS may have encrypted and sent bytes that it has not taken yet.
    const std::uint64_t taken = stream_.tls() != nullptr ? accepted_ - queued_.size() : taken_;
    return taken >= command.end     ? Written::all
           : taken <= command.begin ? Written::nothing
                                    : Written::part;
}

// The time of the next thing to do, if nothing comes before.
SteadyTime Connection::Core::due() const noexcept {
    if (!ready_)
        return begun_ + settings_->connect_timeout;
    if (!in_flight_.empty())
        return in_flight_.front().at + settings_->reply_timeout;
    return heard_ + settings_->ping_after;
}

// Arms the timer unless it comes early enough as it is.
void Connection::Core::arm() {
    const SteadyTime at = due();
    if (at >= armed_for_)
        return;
    armed_for_ = at;
    timer_.expires_at(at);
    timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
        if (!error && !self->over_)
            self->on_timer();
    });
}

void Connection::Core::on_timer() {
    armed_for_ = SteadyTime::max();
    if (net::read_steady_clock() >= due()) {
        if (!ready_)
            return fail(
                Failure::Kind::timed_out,
                "took longer than " + milliseconds(settings_->connect_timeout));
        if (!in_flight_.empty())
            return fail(
                Failure::Kind::timed_out,
                "no reply within " + milliseconds(settings_->reply_timeout));
        append(ping, {}, false);
    }
    arm();
}

} // namespace stint::redis
