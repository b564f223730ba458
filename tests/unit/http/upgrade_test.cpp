#include "http/upgrade.hpp"
#include "http_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;

std::string offered(std::string_view fields, const std::vector<std::string>& allowed) {
    HeadParser parser{test::max_head};
    const std::string head = test::get_with(fields);
    const RequestHead request = parser.parse_request(head).value();
    CHECK(
        request.ids.contains(FieldId::upgrade) ==
        (fields.find("Upgrade:") != std::string_view::npos));
    return offered_protocols(request, allowed);
}

std::string chosen(std::string_view fields, std::string_view offer) {
    HeadParser parser{test::max_head};
    const std::string head = "HTTP/1.1 101 X\r\n" + std::string{fields} + "\r\n";
    return chosen_protocols(parser.parse_response(head, "GET").value(), offer);
}

const std::vector<std::string> websocket{"websocket"};

} // namespace

TEST_CASE("of the protocols that a request names the allowed ones are offered, each once") {
    const std::vector<std::string> both{"websocket", "foo"};

    CHECK(offered("Connection: upgrade\r\nUpgrade: WebSocket\r\n", both) == "WebSocket");
    CHECK(
        offered("Connection: x, Upgrade\r\nUpgrade: foo/1 ,bar, foo/2, FOO/1\r\n", both) ==
        "foo/1, foo/2");
    CHECK(
        offered("Upgrade: ,,\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", both) ==
        "websocket");
    CHECK(offered("Connection: Upgrade\r\nUpgrade: foo\r\n", {}).empty());
    CHECK(offered("Connection: Upgrade\r\n", both).empty());
}

TEST_CASE("what is no protocol is not offered") {
    for (const std::string_view value :
         {"websocket/", "websocket/1/2", "websocket 13", "/websocket", "\"websocket\"",
          "websocket;a=b", "web socket"}) {
        CAPTURE(value);
        const std::string fields = "Connection: Upgrade\r\nUpgrade: " + std::string{value} + "\r\n";
        CHECK(offered(fields, websocket).empty());
    }
}

TEST_CASE("an offer needs the connection option and no body") {
    CHECK(offered("Upgrade: websocket\r\n", websocket).empty());
    CHECK(offered("Connection: close\r\nUpgrade: websocket\r\n", websocket).empty());
    CHECK(offered("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n", websocket)
              .empty());
    CHECK(offered(
              "Connection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n",
              websocket)
              .empty());
    CHECK(
        offered("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n", websocket) ==
        "websocket");
}

TEST_CASE("an answer chooses among what was offered") {
    CHECK(
        chosen("Connection: Upgrade\r\nUpgrade: Websocket\r\n", "foo/1, websocket") == "Websocket");
    CHECK(
        chosen("Connection: upgrade\r\nUpgrade: foo/1 ,websocket\r\n", "foo/1, websocket") ==
        "foo/1, websocket");
    CHECK(chosen("Connection: Upgrade\r\nUpgrade: foo\r\n", "foo/1").empty());
    CHECK(chosen("Connection: Upgrade\r\nUpgrade: websocket, bar\r\n", "websocket").empty());
    CHECK(chosen("Connection: Upgrade\r\nUpgrade: , \r\n", "websocket").empty());
    CHECK(chosen("Connection: Upgrade\r\n", "websocket").empty());
    CHECK(chosen("Upgrade: websocket\r\n", "websocket").empty());
}
