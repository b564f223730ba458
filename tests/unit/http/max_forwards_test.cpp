#include "http/head_parser.hpp"
#include "http_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::http;

namespace {

using Hops = std::optional<std::uint64_t>;

Result<Hops, HeadError> read(std::string_view method, std::string_view fields) {
    HeadParser parser{test::max_head};
    std::string head{method};
    head.append(" / HTTP/1.1\r\nHost: a\r\n").append(fields).append("\r\n");
    const auto request = parser.parse_request(head);
    if (!request)
        return request.error();
    return request->max_forwards;
}

} // namespace

TEST_CASE("Max-Forwards is read of OPTIONS and TRACE") {
    CHECK(read("OPTIONS", "Max-Forwards: 3\r\n").value() == Hops{3});
    CHECK(read("TRACE", "max-forwards: 0\r\n").value() == Hops{0});
    CHECK(read("OPTIONS", "").value() == Hops{});
}

TEST_CASE("Max-Forwards means nothing to other methods") {
    CHECK(read("GET", "Max-Forwards: 0\r\n").value() == Hops{});
    CHECK(read("POST", "Max-Forwards: x\r\n").value() == Hops{});
}

TEST_CASE("Max-Forwards that is no number, or there twice, is refused") {
    CHECK(read("OPTIONS", "Max-Forwards: -1\r\n").error().status == 400);
    CHECK(read("OPTIONS", "Max-Forwards:\r\n").has_error());
    CHECK(read("OPTIONS", "Max-Forwards: 1\r\nMax-Forwards: 1\r\n").has_error());
}
