#include "server/whole_body.hpp"

#include "net/clock.hpp"

namespace stint::server {
namespace {

constexpr http::HeadError late{408, "the request's body did not arrive in time"};
constexpr http::HeadError broken{400, "the request's body broke off"};

} // namespace

net::Task<std::optional<http::HeadError>> WholeBody::read(Duration time, std::string& into) {
    into = stream_.buffered_body();
    loop_.deadlines.arm(*this, time, net::read_coarse_clock());
    const bool allowed = co_await allow();
    if (!allowed)
        co_return timed_out_ ? late : broken;
    stream_.drop_buffered_body();
    stream_.consumed(into.size());
    net::Block block = loop_.body_blocks.borrow();
    while (!stream_.body_done()) {
        const BodyPiece piece = co_await stream_.read_body(block);
        if (piece.status == BodyPiece::Status::malformed)
            co_return http::HeadError{400, piece.detail};
        if (timed_out_ && !stream_.body_done())
            co_return late;
        if (piece.status == BodyPiece::Status::gone)
            co_return broken;
        into += piece.payload;
        stream_.consumed(piece.payload.size());
        if (into.size() > most)
            co_return too_large;
    }
    disarm();
    co_return std::nullopt;
}

// Sends the 100 Continue. Returns false if the client has gone, or does not take it in time.
net::Task<bool> WholeBody::allow() {
    Sent sent = stream_.allow_body();
    while (sent == Sent::part && !timed_out_)
        sent = co_await stream_.flush();
    co_return sent == Sent::all;
}

void WholeBody::on_deadline() noexcept {
    timed_out_ = true;
    stream_.cancel();
}

} // namespace stint::server
