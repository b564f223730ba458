// The bytes of a request as HTTP/1.1 sends it, without a connection.
#include "http/head_parser.hpp"
#include "upstream/http1_request_writer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace stint;
using namespace stint::upstream;

namespace {

// A request on its way: takes as many bytes as the test says.
struct Sending {
    explicit Sending(std::string text) : text_{std::move(text)} {
        REQUIRE(parser_.parse_request(text_, 8192, fields_, head_) == nullptr);
    }

    void begin(const RequestPiece& piece) {
        const http::Forwarding forwarding{
            .peer_address = "192.0.2.1", .scheme = "http", .host = "o", .request_id = "1"};
        writer.begin({.head = head_, .forwarding = forwarding}, piece, scratch_);
    }
    // Takes up to `most` bytes.
    void take(std::size_t most = SIZE_MAX) {
        std::string bytes;
        writer.unsent().append_to(bytes);
        const std::size_t size = std::min(most, bytes.size());
        sent.append(bytes, 0, size);
        writer.unsent().consume(size);
        writer.note_sent();
    }
    [[nodiscard]] std::string body() const { return sent.substr(sent.find("\r\n\r\n") + 4); }

    Http1RequestWriter writer;
    std::string sent;

    // The scratch is used for another request.
    void spoil_scratch() {
        scratch_.clear();
        scratch_ << std::string(scratch_.size() + 512, '#');
    }

  private:
    std::string text_;
    http::HeadParser parser_{8192};
    std::array<Field, 16> fields_;
    RequestHead head_;
    http::HeadBuffer scratch_;
};

constexpr const char* with_length = "PUT /a HTTP/1.1\r\nHost: o\r\nContent-Length: 6\r\n\r\n";
constexpr const char* chunked = "PUT /a HTTP/1.1\r\nHost: o\r\nTransfer-Encoding: chunked\r\n\r\n";

} // namespace

TEST_CASE("head and body are one piece of bytes") {
    Sending sending{with_length};
    sending.begin({.payload = "abc", .ahead = "def", .last = true});
    CHECK_FALSE(sending.writer.begun());
    sending.take();
    CHECK(sending.sent.starts_with("PUT /a HTTP/1.1\r\n"));
    CHECK(sending.body() == "abcdef");
    CHECK(sending.writer.begun());
    CHECK(sending.writer.done());
    CHECK_FALSE(sending.writer.has_unsent());
}

TEST_CASE("what was not taken of head and body is sent later, whatever became of their bytes") {
    Sending whole{with_length};
    whole.begin({.payload = "abc", .ahead = "def", .last = true});
    whole.take();
    for (const std::size_t step : {1, 7, 100}) {
        Sending sending{with_length};
        std::string payload = "abc";
        std::string ahead = "def";
        sending.begin({.payload = payload, .ahead = ahead, .last = true});
        sending.take(0);
        CHECK_FALSE(sending.writer.begun());
        payload = ahead = "###";
        sending.spoil_scratch();
        while (sending.writer.has_unsent()) {
            CHECK_FALSE(sending.writer.done());
            sending.take(step);
            CHECK(sending.writer.begun());
        }
        CHECK(sending.sent == whole.sent);
        CHECK(sending.writer.done());
    }
}

TEST_CASE("a request whose body is not as long as its head says is never done") {
    Sending sending{with_length};
    sending.begin({.payload = "abc", .last = true});
    sending.take();
    CHECK_FALSE(sending.writer.has_unsent());
    CHECK_FALSE(sending.writer.done());

    Sending pieces{with_length};
    pieces.begin({.payload = "ab", .ahead = "c"});
    pieces.take();
    pieces.writer.add({.payload = "def", .last = true});
    pieces.take();
    CHECK(pieces.writer.done());
}

TEST_CASE("a chunked body is framed piece by piece, and ends with its trailer fields") {
    Sending sending{chunked};
    sending.begin({.payload = "abc"});
    sending.take();
    CHECK_FALSE(sending.writer.done());
    sending.writer.add({.payload = "0123456789abcdef"});
    sending.take(3);
    CHECK(sending.writer.has_unsent());
    sending.take();
    sending.writer.add({}); // a piece that brings nothing ends nothing
    sending.take();
    CHECK_FALSE(sending.writer.done());
    SUBCASE("without any") {
        sending.writer.add({.last = true});
        sending.take();
        CHECK(sending.body() == "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
    }
    SUBCASE("with those that may be forwarded") {
        sending.writer.add(
            {.payload = "z",
             .last = true,
             .trailer = "Sum: 7\rHost: evil\rMine: 1\r\r",
             .nominated = "mine"});
        sending.take();
        CHECK(
            sending.body() ==
            "3\r\nabc\r\n10\r\n0123456789abcdef\r\n1\r\nz\r\n0\r\nSum: 7\r\n\r\n");
    }
    CHECK(sending.writer.done());
}
