// What a configuration sets and removes in heads.
#include "http/field_edits.hpp"
#include "rewrite_support.hpp"

#include <doctest/doctest.h>

namespace {

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;

FieldEdits edits() {
    return {{{"X-Tenant", TextTemplate{"shop of {client_ip}"}}}, {"x-tenant", "cookie", "server"}};
}

PlaceholderValues sample_values() {
    PlaceholderValues made;
    made[Placeholder::client_ip] = "192.0.2.7";
    return made;
}

std::string shaped_request(std::string_view fields) {
    const FieldEdits some = edits();
    const Shaping shaping{some, sample_values()};
    Forwarding with = forwarding;
    with.shaping = &shaping;
    std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
    return upstream(head.append(fields).append("\r\n"), with);
}

std::string shaped_response(std::string_view head) {
    const FieldEdits some = edits();
    const Shaping shaping{some, sample_values()};
    HeadParser parser{max_head};
    HeadBuffer out;
    const ResponseHead response = parser.parse_response(head, "GET").value();
    write_downstream_head(
        out, response, frame_response(1, response.framing, true), "id-1", "now", &shaping);
    return std::string{out.view()};
}

} // namespace

TEST_CASE("a field that is set stands in the place of all of its name") {
    const std::string head =
        shaped_request("A: b\r\nX-Tenant: evil\r\nx-tenant: worse\r\nC: d\r\n");

    CHECK(has(head, "X-Tenant: shop of 192.0.2.7"));
    CHECK(count(head, "X-Tenant") == 1);
    CHECK(count(head, "x-tenant") == 0);
    CHECK(has(head, "A: b"));
    CHECK(has(head, "C: d"));
}

TEST_CASE("a name that a server may read as one that is set or removed goes, too") {
    const std::string head = shaped_request("X_Tenant: evil\r\nX-Tenants: kept\r\n");

    CHECK(head.find("evil") == std::string::npos);
    CHECK(has(head, "X-Tenants: kept"));
}

TEST_CASE("a field that is removed does not go upstream") {
    const std::string head = shaped_request("Cookie: a=b\r\nCookie: c=d\r\nCookies: e\r\n");

    CHECK(count(head, "Cookie") == 0);
    CHECK(has(head, "Cookies: e"));
}

TEST_CASE("a client cannot name away what is set") {
    const std::string head =
        shaped_request("Connection: close, X-Tenant, A\r\nX-Tenant: evil\r\nA: b\r\n");

    CHECK(has(head, "X-Tenant: shop of 192.0.2.7"));
    CHECK(count(head, "A") == 0);
}

TEST_CASE("a response's fields are set and removed beside its framing") {
    const std::string head = shaped_response(
        "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 2\r\nX-Tenant: y\r\nDate: then\r\n\r\n");

    CHECK(
        head == "HTTP/1.1 200 OK\r\nDate: then\r\nX-Tenant: shop of 192.0.2.7\r\n"
                "Content-Length: 2\r\nX-Request-Id: id-1\r\n\r\n");
}

TEST_CASE("an interim response loses what is removed and gets nothing") {
    const std::string head =
        shaped_response("HTTP/1.1 103 Early Hints\r\nServer: x\r\nLink: </a>\r\n\r\n");

    CHECK(head == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
}

TEST_CASE("a switch of protocols is shaped like a final response") {
    const FieldEdits some = edits();
    const Shaping shaping{some, sample_values()};
    HeadParser parser{max_head};
    HeadBuffer out;
    const auto response = parser.parse_response(
        "HTTP/1.1 101 Switching Protocols\r\nServer: x\r\nConnection: upgrade\r\n"
        "Upgrade: websocket\r\n\r\n",
        "GET");

    write_switching_head(out, response.value(), "websocket", "id-1", &shaping);

    CHECK(
        out.view() == "HTTP/1.1 101 Switching Protocols\r\nX-Tenant: shop of 192.0.2.7\r\n"
                      "Connection: Upgrade\r\nUpgrade: websocket\r\nX-Request-Id: id-1\r\n\r\n");
}
