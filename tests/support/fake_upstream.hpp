// Upstreams without a socket: for tests of what lies between two connections.
#pragma once

#include "http/head_parser.hpp"
#include "net/event.hpp"
#include "net/io.hpp"
#include "upstream/origin.hpp"
#include "upstream/upstream_stream.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::test {

// The upstream's end of one request, which outlives the gateway's end. The test says how much of
// the request it takes, and what it answers.
struct FakeCall {
    // --- said by the test ---
    bool connected = true;
    void connect() {
        connected = true;
        came.signal();
    }
    std::size_t room = SIZE_MAX; // bytes of the body that it takes
    void take(std::size_t more) {
        room += more;
        taken.signal();
    }
    // Answers with a complete head, and a body that ends at once or with end().
    void answer(std::string text, std::string begin = {}, bool whole = true) {
        head = std::move(text);
        pieces = std::move(begin);
        ended = whole;
        tell({});
    }
    void send(std::string_view more) {
        pieces += more;
        came.signal();
    }
    // The response's end. trailers: as BodyDecoder::trailer() has them.
    void end(std::string trailers = {}) {
        trailer = std::move(trailers);
        ended = true;
        came.signal();
    }
    // The connection breaks.
    void break_off() {
        broken = true;
        tell(net::asio::error::connection_reset);
        came.signal();
        taken.signal();
    }

    // --- seen by the test ---
    std::string request; // "METHOD TARGET"
    std::string body;
    std::string request_trailer;
    bool request_done = false;
    bool kept = false;
    bool aborted = false;
    bool gone = false; // the gateway's end has ended

    // --- between both ---
    void tell(const ErrorCode& error) {
        if (auto* const waiting = std::exchange(handler, nullptr))
            waiting->on_response(error);
        else
            came.signal();
    }
    std::string head;
    std::string pieces;
    std::string trailer;
    bool ended = false;
    bool broken = false;
    upstream::ResponseHandler* handler = nullptr;
    net::Event came;
    net::Event taken;
};

class FakeUpstreamStream final : public upstream::UpstreamStream {
  public:
    FakeUpstreamStream(net::Executor executor, std::shared_ptr<FakeCall> call, bool reused)
        : UpstreamStream{reused}, executor_{std::move(executor)}, call_{std::move(call)} {}
    ~FakeUpstreamStream() {
        call_->handler = nullptr;
        call_->gone = true;
    }

    net::Task<upstream::Connected> connect(std::string_view) override {
        if (!call_->connected)
            co_await call_->came.wait();
        co_return upstream::Connected{};
    }
    void abort() noexcept override {
        call_->aborted = true;
        aborted_ = true;
        net::asio::post(executor_, [call = call_] {
            call->tell(net::asio::error::operation_aborted);
            call->came.signal();
            call->taken.signal();
        });
    }
    void keep(SteadyTime) noexcept override { call_->kept = call_->request_done && done_; }

    ErrorCode send_request(
        const upstream::ForwardedRequest& request, const upstream::RequestPiece& piece) override {
        call_->request.append(request.head.method).append(" ").append(request.head.target);
        method_ = request.head.method;
        return send_body(piece);
    }
    ErrorCode send_body(const upstream::RequestPiece& piece) override {
        unsent_.append(piece.payload).append(piece.ahead);
        trailer_ = piece.trailer;
        last_ = piece.last;
        return put();
    }
    bool has_unsent() const noexcept override { return !unsent_.empty(); }
    net::Task<ErrorCode> flush() override {
        if (call_->room == 0 && !call_->broken && !aborted_)
            co_await call_->taken.wait();
        co_return put();
    }
    bool request_begun() const noexcept override { return begun_; }
    bool request_done() const noexcept override { return call_->request_done; }

    void receive_then(upstream::ResponseHandler& handler) override { call_->handler = &handler; }
    net::Task<ErrorCode> receive() override {
        if (call_->head.empty() && !call_->broken && !aborted_)
            co_await call_->came.wait();
        co_return failure();
    }
    Head next_head() override {
        if (call_->head.empty())
            return Head::incomplete;
        const auto parsed = parser_.parse_response(call_->head, method_);
        if (!parsed)
            return Head::malformed;
        head_ = *parsed;
        return Head::arrived;
    }
    const ResponseHead& head() const noexcept override { return head_; }
    bool response_begun() const noexcept override { return !call_->head.empty(); }
    std::string fault() const override { return "a bad response"; }

    bool expects_trailers() const noexcept override { return true; }
    upstream::BodyRead first_piece() override { return take(); }
    net::Task<upstream::BodyRead> read_body() override {
        while (call_->pieces.empty() && !call_->ended && !call_->broken && !aborted_)
            co_await call_->came.wait();
        if (call_->broken || aborted_)
            co_return upstream::BodyRead{.status = upstream::BodyRead::Status::broken};
        co_return take();
    }
    bool response_done() const noexcept override { return done_; }

    net::Stream* raw_body() noexcept override { return nullptr; }
    std::uint64_t raw_left() const noexcept override { return 0; }
    void pass_raw(std::uint64_t) noexcept override {}
    bool end_raw() noexcept override { return false; }
    net::Stream& take_over(net::Block&, std::size_t&) override { std::abort(); }

  private:
    void destroy() noexcept override { delete this; }
    ErrorCode failure() const {
        if (call_->broken)
            return net::asio::error::connection_reset;
        return aborted_ ? ErrorCode{net::asio::error::operation_aborted} : ErrorCode{};
    }
    ErrorCode put() {
        if (const ErrorCode error = failure())
            return error;
        const std::size_t size = std::min(call_->room, unsent_.size());
        call_->room -= size;
        call_->body.append(unsent_, 0, size);
        unsent_.erase(0, size);
        begun_ = begun_ || size > 0 || unsent_.empty();
        call_->request_done = last_ && unsent_.empty();
        if (call_->request_done)
            call_->request_trailer = trailer_;
        return {};
    }
    upstream::BodyRead take() {
        read_ = std::exchange(call_->pieces, {});
        done_ = call_->ended;
        upstream::BodyRead read{.payload = read_, .last = done_};
        if (done_)
            read.trailer = call_->trailer;
        return read;
    }

    const net::Executor executor_;
    const std::shared_ptr<FakeCall> call_;
    http::HeadParser parser_{8192};
    std::string method_;
    ResponseHead head_;
    std::string unsent_;
    std::string trailer_;
    std::string read_;
    bool last_ = false;
    bool begun_ = false;
    bool done_ = false;
    bool aborted_ = false;
};

// Where the gateway finds an upstream that the test plays.
class FakeUpstream final : public upstream::StreamSource {
  public:
    explicit FakeUpstream(net::Executor executor) : executor_{std::move(executor)} {}

    // Calls in the order in which they came.
    std::vector<std::shared_ptr<FakeCall>> calls;
    std::size_t idle = 0;        // connections that seem to be idle
    std::size_t room = SIZE_MAX; // of the next calls
    bool idle_breaks = false;    // a write to an idle connection fails
    bool connects = true;        // else a new connection waits for FakeCall::connect()

    upstream::UpstreamStreamPtr take_idle() override {
        if (idle == 0)
            return {};
        --idle;
        return make(true);
    }
    upstream::UpstreamStreamPtr make_new(const net::Executor&) override { return make(false); }
    const std::string& endpoint() const noexcept override { return name_; }

  private:
    upstream::UpstreamStreamPtr make(bool reused) {
        calls.push_back(std::make_shared<FakeCall>());
        calls.back()->room = room;
        calls.back()->broken = reused && idle_breaks;
        calls.back()->connected = reused || connects;
        return upstream::UpstreamStreamPtr{new FakeUpstreamStream{executor_, calls.back(), reused}};
    }

    const net::Executor executor_;
    std::string name_ = "fake";
};

// An origin that is not in the configuration: all requests go to one FakeUpstream.
class FakeOrigins final : public upstream::OriginSource {
  public:
    explicit FakeOrigins(std::shared_ptr<FakeUpstream> upstream) {
        auto spec = std::make_shared<routing::UpstreamSpec>();
        spec->name = "fake";
        spec->endpoints.push_back({.host = "fake", .text = "fake"});
        upstream::Cluster cluster{*spec, {nullptr}};
        cluster.set_streams(0, std::move(upstream));
        origin_ = new upstream::Origin{std::move(spec), std::move(cluster)};
    }

    upstream::OriginPtr
    origin_for(const RequestHead&, const upstream::Origin&, SteadyTime) override {
        return origin_;
    }
    // The fake's, one of its requests included while it is under way.
    [[nodiscard]] std::size_t users() const { return origin_->use_count(); }
    [[nodiscard]] upstream::Cluster& cluster() { return origin_->cluster(); }

  private:
    upstream::OriginPtr origin_;
};

} // namespace stint::test
