#include "upstream/http1_upstream_stream.hpp"

#include "http/trailers.hpp"

#include <cstring>
#include <utility>

namespace stint::upstream {

net::Task<Connected> Http1UpstreamStream::connect(std::string_view first) {
    Lease::Connected connected = co_await lease_.connect(first);
    const bool spoke =
        !connected.error && net::probe(lease_.stream()) == net::SocketState::bytes_waiting;
    co_return Connected{
        connected.error, connected.in_handshake, std::move(connected.reason), spoke};
}

void Http1UpstreamStream::keep(SteadyTime now) noexcept {
    if (writer_.done() && keep_alive_ && body_.done())
        lease_.keep(now);
    else
        lease_.abort();
}

ErrorCode
Http1UpstreamStream::send_request(const ForwardedRequest& request, const RequestPiece& piece) {
    method_ = request.head.method;
    max_head_ = request.max_response_head;
    keeps_trailers_ = request.trailers;
    writer_.begin(request, piece, buffers_.head);
    const ErrorCode error = net::write_now(lease_.stream(), writer_.unsent());
    writer_.note_sent();
    if (writer_.has_unsent()) [[unlikely]]
        input_ = net::Input::unknown; // a later turn of the loop sends the rest
    return error;
}

ErrorCode Http1UpstreamStream::send_body(const RequestPiece& piece) {
    writer_.add(piece);
    const ErrorCode error = net::write_now(lease_.stream(), writer_.unsent());
    writer_.note_sent();
    return error;
}

net::Task<ErrorCode> Http1UpstreamStream::flush() {
    auto [error] = co_await net::wait_writable(lease_.stream());
    if (!error)
        error = net::write_now(lease_.stream(), writer_.unsent());
    writer_.note_sent();
    co_return error;
}

std::span<char> Http1UpstreamStream::room() {
    if (!block_)
        block_ = buffers_.blocks.borrow();
    return block_.span().subspan(filled_);
}

void Http1UpstreamStream::receive_then(ResponseHandler& handler) {
    const auto done = [this, &handler](const ErrorCode& error, std::size_t size) {
        take_in(size);
        handler.on_response(error);
    };
    net::Stream& from = lease_.stream();
    const net::Input known = std::exchange(input_, net::Input::unknown);
    if (known == net::Input::none_yet && from.tls() == nullptr) [[likely]]
        net::read_deferred_then(from.socket(), room(), read_memory_, done);
    else
        net::read_some_then(from, room(), read_memory_, done);
}

net::Task<ErrorCode> Http1UpstreamStream::receive() {
    auto [error, size] = co_await net::read_some(
        lease_.stream(), room(), read_memory_, std::exchange(input_, net::Input::unknown));
    take_in(size);
    co_return error;
}

UpstreamStream::Head Http1UpstreamStream::next_head() {
    if (head_size_ > 0) [[unlikely]]
        drop_head();
    const std::string_view data{block_.data(), filled_};
    const std::size_t size = http::find_head_end(data, scanned_);
    const std::size_t at_least = size > 0 ? size : filled_;
    if (at_least > max_head_ || (size == 0 && filled_ == block_.size()))
        return refuse("a response head larger than max_head");
    if (size == 0)
        return Head::incomplete;
    if (const http::HeadError* fault =
            buffers_.parser.parse_response(data.substr(0, size), method_, head_))
        return refuse(std::string{"a bad response: "}.append(fault->detail));
    head_size_ = size;
    return Head::arrived;
}

// Drops an interim head: block_ begins with the next one.
void Http1UpstreamStream::drop_head() noexcept {
    filled_ -= head_size_;
    std::memmove(block_.data(), block_.data() + head_size_, filled_);
    scanned_ = 0;
    head_size_ = 0;
    interims_ = true;
}

UpstreamStream::Head Http1UpstreamStream::refuse(std::string_view what) {
    fault_ = what;
    return Head::malformed;
}

std::string Http1UpstreamStream::fault() const {
    return fault_;
}

BodyRead Http1UpstreamStream::first_piece() {
    body_ = http::BodyDecoder{head_.framing};
    if (keeps_trailers_ && head_.framing.kind == BodyFraming::Kind::chunked) [[unlikely]] {
        trailers_ = std::make_unique<Trailers>();
        trailers_->nominated = http::connection_options(head_.fields);
        body_.keep_trailer(trailers_->place.data());
    }
    keep_alive_ = head_.keep_alive && head_.framing.kind != BodyFraming::Kind::until_close;
    const BodyRead read = decode({block_.data() + head_size_, filled_ - head_size_});
    if (!body_.done())
        net::acknowledge_at_once(lease_.stream());
    return read;
}

BodyRead Http1UpstreamStream::decode(std::span<char> data) {
    const auto step = body_.decode(data);
    if (!step) {
        static_cast<void>(refuse(std::string{"a bad response: "}.append(step.error().detail)));
        return {.status = BodyRead::Status::malformed};
    }
    keep_alive_ = keep_alive_ && step->consumed == data.size();
    BodyRead read{.payload = {data.data(), step->payload}, .last = body_.done()};
    if (read.last && trailers_ != nullptr) [[unlikely]] {
        read.trailer = body_.trailer();
        read.nominated = trailers_->nominated;
    }
    return read;
}

net::Task<BodyRead> Http1UpstreamStream::read_body() {
    if (!block_)
        block_ = buffers_.blocks.borrow();
    auto [error, size] = co_await net::read_some(lease_.stream(), block_.span(), read_memory_);
    // A body that is delimited by close ends with the stream; any other was cut short.
    if (error && !(error == net::asio::error::eof && body_.end_of_stream()))
        co_return BodyRead{.status = BodyRead::Status::broken};
    co_return decode(block_.span().first(size));
}

net::Stream* Http1UpstreamStream::raw_body() noexcept {
    return lease_.stream().tls() == nullptr && body_.unframed() > 0 ? &lease_.stream() : nullptr;
}

void Http1UpstreamStream::pass_raw(std::uint64_t bytes) noexcept {
    block_.release();
    body_.pass(bytes);
}

net::Stream& Http1UpstreamStream::take_over(net::Block& early, std::size_t& size) {
    drop_head();
    early = std::move(block_);
    size = std::exchange(filled_, 0);
    return lease_.stream();
}

UpstreamStreamPtr Http1StreamSource::take_idle() {
    Lease lease = pool_->take_idle();
    if (!lease)
        return {};
    return UpstreamStreamPtr{buffers_.streams.make(buffers_, std::move(lease)).release()};
}

UpstreamStreamPtr Http1StreamSource::make_new(const net::Executor& executor) {
    return UpstreamStreamPtr{buffers_.streams.make(buffers_, pool_->make_new(executor)).release()};
}

} // namespace stint::upstream
