// Frames of HTTP/2 against a whole worker, over loopback sockets: whatever a client sends, it gets
// whole frames in an order that RFC 9113 allows, the upstream gets whole requests, and when all
// time-outs are over nothing is held any more.
//
// Input: steps of exchange_script.hpp; those of a client have other bytes:
//   @c   frames, each as a byte of the type, one of the flags, one of the stream (its number is
//        twice that and one; 0xff: 0), one of the payload's size, and the payload
//   @b   bytes as they are, which no frame need be
//   @x   the client closes     @r   it resets     @t   time passes, as there
//   @s   upstreams answer no more, or do again    @e   they close
// A connection begins with the preface, SETTINGS and the acknowledgement of the gateway's.
#include "exchange_script.hpp"
#include "in_process_gateway.hpp"
#include "oracle.hpp"
#include "strict_http.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nghttp2/nghttp2.h>
#include <string>
#include <string_view>
#include <vector>

namespace stint::fuzz {

namespace {

using test::InProcessGateway;
using test::Wire;

constexpr std::size_t longest = 16 * 1024;
constexpr int inputs_a_gateway = 1000;
constexpr int most_rounds = 500;
constexpr std::size_t frame_head = 9;
constexpr std::string_view opening{
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0", 42};

constexpr std::string_view configuration =
    "max_head: 2KiB\n"
    "limits: {slot: {concurrent: 3}, queue: {concurrent: 1, when_exceeded: wait, max_wait: 5s}}\n"
    "routes:\n"
    "  - {name: all, match: {path: /}, upstream: origin, limits: [slot]}\n"
    "  - {name: one, match: {path: /q}, upstream: origin, limits: [slot, queue]}\n";

std::size_t size_of(std::string_view head) {
    const auto at = [head](std::size_t i) {
        return static_cast<std::size_t>(static_cast<std::uint8_t>(head[i]));
    };
    return at(0) << 16U | at(1) << 8U | at(2);
}

std::string frames_of(std::string_view text) {
    std::string frames;
    while (text.size() >= 4) {
        const std::string_view payload = text.substr(4, static_cast<std::uint8_t>(text[3]));
        const auto index = static_cast<std::uint8_t>(text[2]);
        const unsigned id = index == 0xff ? 0 : 2U * index + 1;
        frames.append(2, '\0').append(1, static_cast<char>(payload.size()));
        frames.append(text.substr(0, 2)).append(2, '\0');
        frames.append(1, static_cast<char>(id >> 8U)).append(1, static_cast<char>(id));
        frames.append(payload);
        text.remove_prefix(4 + payload.size());
    }
    return frames;
}

// What a client may get (RFC 9113 section 5.1).
class Receiver {
  public:
    Receiver() { require(nghttp2_hd_inflate_new(&inflater_) == 0, "there is memory"); }
    ~Receiver() { nghttp2_hd_inflate_del(inflater_); }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    void check(std::string_view bytes) {
        while (bytes.size() >= frame_head) {
            const std::size_t size = size_of(bytes);
            require(size <= 16'384, "a frame is no larger than was announced");
            if (bytes.size() < frame_head + size)
                return;
            take(bytes.substr(0, frame_head), bytes.substr(frame_head, size));
            bytes.remove_prefix(frame_head + size);
        }
    }

  private:
    struct Stream {
        bool answered = false;
        bool ended = false;
    };

    void take(std::string_view head, std::string_view payload) {
        const auto type = static_cast<std::uint8_t>(head[3]);
        const auto flags = static_cast<std::uint8_t>(head[4]);
        const unsigned id =
            static_cast<std::uint8_t>(head[7]) * 256U + static_cast<std::uint8_t>(head[8]);
        require(first_ || type == NGHTTP2_SETTINGS, "SETTINGS come first");
        first_ = true;
        require(!in_block_ || type == NGHTTP2_CONTINUATION, "a header block is in one piece");
        if (type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION) {
            block_ += payload;
            ends_ = type == NGHTTP2_HEADERS ? (flags & NGHTTP2_FLAG_END_STREAM) != 0 : ends_;
            in_block_ = (flags & NGHTTP2_FLAG_END_HEADERS) == 0;
            if (!in_block_)
                take_block(streams_[id]);
        } else if (type == NGHTTP2_DATA) {
            Stream& stream = streams_[id];
            require(stream.answered && !stream.ended, "a body follows its head");
            stream.ended = (flags & NGHTTP2_FLAG_END_STREAM) != 0;
        } else if (type == NGHTTP2_RST_STREAM) {
            streams_[id].ended = true;
        }
    }

    void take_block(Stream& stream) {
        require(!stream.ended, "nothing follows the end of a stream");
        std::string_view rest{block_};
        std::string status;
        for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
            nghttp2_nv field{};
            const ssize_t used = nghttp2_hd_inflate_hd2(
                inflater_, &field, &flags, reinterpret_cast<const std::uint8_t*>(rest.data()),
                rest.size(), 1);
            require(used >= 0, "a header block is well-formed", block_);
            rest.remove_prefix(static_cast<std::size_t>(used));
            const std::string_view name{
                reinterpret_cast<const char*>(field.name),
                (flags & NGHTTP2_HD_INFLATE_EMIT) != 0 ? field.namelen : 0};
            if (name == ":status")
                status.assign(reinterpret_cast<const char*>(field.value), field.valuelen);
            require(
                name != "connection" && name != "transfer-encoding" && name != "upgrade",
                "no field of HTTP/1's connections is sent", name);
        }
        nghttp2_hd_inflate_end_headers(inflater_);
        block_.clear();
        if (stream.answered)
            require(status.empty() && ends_, "trailers end a stream");
        else
            require(status.size() == 3, "a response has a status", status);
        stream.answered = stream.answered || status[0] != '1';
        stream.ended = ends_;
    }

    nghttp2_hd_inflater* inflater_ = nullptr;
    std::map<unsigned, Stream> streams_;
    std::string block_;
    bool ends_ = false;
    bool in_block_ = false;
    bool first_ = false;
};

class Stage {
  public:
    explicit Stage(InProcessGateway& gateway) : gateway_{gateway}, client_{gateway.connect()} {
        (void)client_.send_some(opening);
        settle();
    }

    void play(const Step& step) {
        switch (step.command) {
        case 'b':
            (void)client_.send_some(step.bytes);
            break;
        case 'x':
        case 'r':
            (void)client_.received();
            step.command == 'x' ? client_.close() : client_.reset();
            break;
        case 't':
            gateway_.pass(std::chrono::seconds{step.bytes.size()});
            break;
        case 's':
            answers_ = !answers_;
            break;
        case 'e':
            for (Upstream& each : upstreams_)
                each.close();
            break;
        default:
            (void)client_.send_some(frames_of(step.bytes));
        }
        if (step.settle)
            settle();
    }

    void wait_out() {
        const auto& connections = gateway_.context().connections;
        for (int round = 0; round < most_rounds && (round == 0 || !connections.empty()); ++round) {
            settle();
            gateway_.pass(std::chrono::hours{1});
        }
        settle();
        require(connections.empty(), "every connection ends by itself");
        for (const char* limit : {"slot", "queue"})
            require(gateway_.limit(limit).in_flight() == 0, "every slot is given back", limit);
        for (const auto& route : gateway_.context().counters.routes)
            require(route.in_flight == 0, "every request ends");
        Receiver{}.check(client_.received());
        for (Upstream& each : upstreams_)
            (void)read_requests(each.wire.received());
    }

  private:
    struct Upstream {
        Wire wire;
        std::size_t answered = 0;
        bool closed = false;

        void close() {
            (void)wire.received();
            wire.close();
            closed = true;
        }
    };

    void settle() {
        for (std::size_t last = 0, now = 1; now != last;) {
            last = now;
            gateway_.open();
            while (gateway_.upstream.called())
                upstreams_.push_back({gateway_.upstream.accept()});
            now = 1 + upstreams_.size() + client_.received().size();
            for (Upstream& each : upstreams_)
                now += answer(each);
        }
        require(gateway_.limit("slot").in_flight() <= 3, "a cap holds");
        require(gateway_.limit("queue").in_flight() <= 1, "a cap of one holds");
    }

    // Returns how many bytes have gone through it.
    std::size_t answer(Upstream& upstream) {
        constexpr std::string_view response =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n";
        const std::string_view seen = upstream.wire.received();
        if (answers_ && !upstream.closed) {
            const auto requests = read_requests(seen);
            for (; upstream.answered < requests.size(); ++upstream.answered)
                if (requests[upstream.answered].whole)
                    (void)upstream.wire.send_some(response);
                else
                    break;
        }
        return seen.size() + upstream.answered;
    }

    InProcessGateway& gateway_;
    Wire client_;
    std::vector<Upstream> upstreams_;
    bool answers_ = true;
};

InProcessGateway& gateway() {
    static std::unique_ptr<InProcessGateway> current;
    static int inputs = 0;
    if (inputs++ % inputs_a_gateway == 0) {
        current.reset();
        current = std::make_unique<InProcessGateway>(
            configuration, server::ListenerOptions{.http2_prior_knowledge = true});
    }
    return *current;
}

void run(std::string_view script) {
    Stage stage{gateway()};
    for (const Step& step : parse_script(script))
        stage.play(step);
    stage.wait_out();
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    spdlog::set_level(spdlog::level::off);
    if (size <= stint::fuzz::longest)
        stint::fuzz::run({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
