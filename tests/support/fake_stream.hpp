// A client's request without a socket: for tests of handlers alone.
#pragma once

#include "base/ip_address.hpp"
#include "http/head_parser.hpp"
#include "http/response_writer.hpp"
#include "net/event.hpp"
#include "net/io.hpp"
#include "routing/client_address.hpp"
#include "server/client_stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace stint::test {

// Runs one handler as a connection does. The test says what comes of the body, and how much of the
// response the client takes.
class FakeStream final : public server::ClientStream {
  public:
    // head: complete. A body of known length comes by give().
    FakeStream(const routing::ClientAddress& peer, std::string head) : text_{std::move(head)} {
        info_.peer = &peer;
        connection_ = &info_;
        const auto* const fault = parser_.parse_request(text_, 8192, fields_, head_);
        parsed = fault == nullptr;
        left_ = head_.framing.length;
        body_done_ = left_ == 0 && head_.framing.kind != BodyFraming::Kind::chunked;
    }

    // Bytes of the body that came with its head.
    void give_with_head(std::string bytes) {
        with_head_ = std::move(bytes);
        buffered_body_ = with_head_;
        bytes_in_ += with_head_.size();
        left_ -= with_head_.size();
        body_done_ = left_ == 0;
    }
    // Begins the request, and runs it as far as it goes.
    void start(const net::Executor& executor, server::Service& service) {
        handler_ = service.make_handler(*this);
        net::spawn(executor, run(*this));
    }
    // Bytes of the body arrive.
    void give(std::string_view bytes) {
        arrived_.append(bytes);
        changed_.signal();
    }
    // The body's end, of a chunked body: its trailer fields as BodyDecoder::trailer() has them.
    void end_body(std::string fields) {
        trailer_ = std::move(fields);
        ends_ = true;
        changed_.signal();
    }
    // The client resets its stream.
    void reset() {
        gone_ = true;
        handler_->on_client_gone();
    }
    // The client takes all that waits for it, and so on.
    void take_all() {
        stalls = false;
        taken_.signal();
    }

    bool parsed = false;
    bool stalls = false;      // the client takes nothing
    bool reads_ahead = false; // what has come of the body goes out with its head
    std::string response;
    std::optional<server::RequestEnd> end;
    bool allowed = false;
    std::size_t credit = 0; // bytes of the body that the gateway has let go of
    std::string trailer;    // of the response

    // --- ClientStream ---
    std::string_view read_ahead(net::Block&) override {
        if (!reads_ahead)
            return {};
        ahead_ = std::exchange(arrived_, {});
        bytes_in_ += ahead_.size();
        left_ -= ahead_.size();
        body_done_ = left_ == 0;
        return ahead_;
    }
    server::Sent allow_body() override {
        allowed = true;
        return head_.expects_continue && stalls ? put("100 ") : server::Sent::all;
    }
    void drop_buffered_body() noexcept override { buffered_body_ = {}; }
    net::Task<server::BodyPiece> read_body(net::Block& into) override {
        cancelled_ = false; // a cancel() ends only a wait that is pending
        while (arrived_.empty() && !ends_ && !gone_ && !cancelled_)
            co_await changed_.wait();
        if (arrived_.empty() && !ends_)
            co_return server::BodyPiece{server::BodyPiece::Status::gone};
        const std::size_t size = std::min(arrived_.size(), into.size());
        std::copy_n(arrived_.begin(), size, into.data());
        arrived_.erase(0, size);
        bytes_in_ += size;
        const bool chunked = head_.framing.kind == BodyFraming::Kind::chunked;
        left_ -= chunked ? 0 : size;
        body_done_ = chunked ? ends_ && arrived_.empty() : left_ == 0;
        server::BodyPiece piece{server::BodyPiece::Status::arrived, {into.data(), size}};
        if (body_done_)
            piece.trailer = trailer_;
        co_return piece;
    }
    void consumed(std::size_t bytes) noexcept override { credit += bytes; }
    net::Task<> discard_body() override { co_return; }
    server::Sent send_interim(const server::ForwardedResponse&) override {
        return server::Sent::all;
    }
    server::Sent send_response(
        const server::ForwardedResponse& forwarded, const server::ResponsePiece& piece) override {
        head_sent_ = true;
        keep_alive_ = true;
        trailer += piece.trailer;
        return put(std::to_string(forwarded.head.status) + " " + std::string{piece.payload});
    }
    server::Sent send_local(const http::Response& local, std::string_view) override {
        head_sent_ = true;
        return put(std::to_string(local.status()) + " ");
    }
    server::Sent send_body(const server::ResponsePiece& piece) override {
        trailer += piece.trailer;
        return put(std::string{piece.payload});
    }
    bool has_unsent() const noexcept override { return !unsent_.empty(); }
    net::Task<server::Sent> flush() override {
        if (stalls)
            co_await taken_.wait();
        if (gone_)
            co_return server::Sent::gone;
        if (stalls) // cancelled
            co_return server::Sent::part;
        response += std::exchange(unsent_, {});
        co_return server::Sent::all;
    }
    void close_after() noexcept override {}
    void cancel() noexcept override {
        cancelled_ = true;
        changed_.signal();
        taken_.signal();
    }
    void watch() noexcept override {}
    void watch_unread() noexcept override {}
    void poll_peer_close() override {}
    void resume(server::Step next) override {
        next_ = next;
        resumed_.signal();
    }
    net::Stream* raw_body() noexcept override { return nullptr; }
    net::Task<std::unique_ptr<net::ByteEnd>> take_over(std::span<const char>&) override {
        co_return nullptr;
    }
    void watch_for_reset(bool) noexcept override {}

  private:
    static net::Task<> run(FakeStream& self) {
        self.next_ = server::Step::pending;
        server::Step step = self.handler_->on_request();
        if (step == server::Step::pending) {
            while (self.next_ == server::Step::pending)
                co_await self.resumed_.wait();
            step = self.next_;
        }
        if (step == server::Step::rest)
            co_await self.handler_->rest();
        self.end = self.handler_->finish();
        self.handler_.reset();
    }
    server::Sent put(std::string bytes) {
        bytes_out_ += bytes.size();
        if (gone_)
            return server::Sent::gone;
        if (!stalls && unsent_.empty()) {
            response += bytes;
            return server::Sent::all;
        }
        unsent_ += bytes;
        return server::Sent::part;
    }

    server::ConnectionInfo info_;
    std::string text_;
    http::HeadParser parser_{8192};
    std::array<Field, 32> fields_;
    std::uint64_t left_ = 0;
    std::string with_head_;
    std::string arrived_;
    bool ends_ = false;
    std::string trailer_;
    std::string ahead_;
    std::string unsent_;
    net::Event changed_;
    net::Event taken_;
    net::Event resumed_;
    bool cancelled_ = false;
    bool gone_ = false;
    server::Step next_ = server::Step::pending;
    server::RequestHandlerPtr handler_;
};

} // namespace stint::test
