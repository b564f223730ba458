// What upstreams may answer, and what of it is refused: each head cut at every place.
#include "scripted.hpp"

#include <string>
#include <vector>

using namespace stint::test;

namespace {

struct Row {
    std::string_view name;
    std::string bytes;
};

// Whether it is a 502 after which the client's connection goes on, wherever it is cut.
void check_refused(std::string_view response, std::string_view request = get) {
    // A long one is cut near its ends only.
    for (std::size_t cut = 0; cut <= response.size(); ++cut) {
        if (cut == 200 && response.size() > 1000)
            cut = response.size() - 4;
        CAPTURE(cut);
        Scripted scripted{request};
        scripted.answer(response, cut, true);
        CHECK(scripted.client.read_head().starts_with("HTTP/1.1 502 "));
        if (!request.starts_with("HEAD"))
            scripted.client.read_until("}\n");
        scripted.check_goes_on_afresh();
    }
}

std::string many_fields(std::size_t count) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    for (std::size_t i = 0; i < count; ++i)
        head += "A: b\r\n";
    return head + "\r\n";
}

} // namespace

TEST_CASE("an answer whose status line is not one is a 502 (RFC 9112 section 4)") {
    const std::vector<Row> rows{
        {"no space behind the code", "HTTP/1.1 200"},
        {"two spaces before the code", "HTTP/1.1  200 OK"},
        {"a tab", "HTTP/1.1\t200 OK"},
        {"a code of two digits", "HTTP/1.1 99 Low"},
        {"a code below 100", "HTTP/1.1 099 Low"},
        {"a code above 599", "HTTP/1.1 600 High"},
        {"a code of four digits", "HTTP/1.1 2000 OK"},
        {"a code of letters", "HTTP/1.1 abc OK"},
        {"a signed code", "HTTP/1.1 +20 OK"},
        {"HTTP/2", "HTTP/2.0 200 OK"},
        {"HTTP/1.2", "HTTP/1.2 200 OK"},
        {"lower case", "http/1.1 200 OK"},
        {"a leading space", " HTTP/1.1 200 OK"},
        {"an empty line before it", "\r\nHTTP/1.1 200 OK"},
        {"a body without a head (HTTP/0.9)", "<html>hello</html>"},
        {"a request", "GET / HTTP/1.1"},
        {"a control byte in the reason", "HTTP/1.1 200 O\x01K"},
        {"a bare CR in the reason", "HTTP/1.1 200 O\rK"},
        {"a bare LF", "HTTP/1.1 200 OK\nA: b"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        check_refused(row.bytes + "\r\nContent-Length: 0\r\n\r\n");
    }
}

TEST_CASE("an answer may leave its reason empty, not the space before it") {
    Scripted scripted;
    scripted.answer("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", 5, false);

    CHECK(read_response(scripted.client).starts_with("HTTP/1.1 200 \r\n"));
    CHECK(scripted.gateway.pooled() == 1);
}

TEST_CASE("an answer whose fields break the grammar is a 502 (RFC 9112 section 5)") {
    const std::vector<Row> rows{
        {"NUL in a value", {"A: b\0c", 6}},
        {"a control byte in a value", "A: b\x02"},
        {"DEL in a value", "A: b\x7f"},
        {"a bare CR in a value", "A: b\rSet-Cookie: x"},
        {"a bare LF between fields", "A: b\nSet-Cookie: x"},
        {"folded", "A: b\r\n c"},
        {"folded behind nothing", "A:\r\n\tc"},
        {"a blank before the colon", "A : b"},
        {"no name", ": b"},
        {"no colon", "Ab"},
        {"a blank in the name", "A b: c"},
        {"a line that begins with a blank", " A: b"},
        {"a byte above 0x7f in the name", "\xc3\xa4: b"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        check_refused("HTTP/1.1 200 OK\r\n" + row.bytes + "\r\nContent-Length: 0\r\n\r\n");
    }
}

TEST_CASE("an answer whose end is in doubt is a 502 (RFC 9112 section 6.3)") {
    const std::vector<Row> rows{
        {"both framings", "Transfer-Encoding: chunked\r\nContent-Length: 5"},
        {"the other way round", "Content-Length: 5\r\nTransfer-Encoding: chunked"},
        {"two lengths", "Content-Length: 0\r\nContent-Length: 5"},
        {"one length twice", "Content-Length: 5\r\nContent-Length: 5"},
        {"a list of lengths", "Content-Length: 5, 5"},
        {"a signed length", "Content-Length: +5"},
        {"a length beyond all numbers", "Content-Length: 99999999999999999999"},
        {"an empty length", "Content-Length:"},
        {"another coding", "Transfer-Encoding: gzip"},
        {"another coding before", "Transfer-Encoding: gzip, chunked"},
        {"another coding behind", "Transfer-Encoding: chunked, gzip"},
        {"chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        check_refused("HTTP/1.1 200 OK\r\n" + row.bytes + "\r\n\r\n0\r\n\r\n");
    }
}

TEST_CASE("chunks of HTTP/1.0 are a 502") {
    check_refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

TEST_CASE("a head larger than any is a 502, and is not read to its end") {
    std::string head;
    SUBCASE("one long field") {
        head = "HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'b') + "\r\n\r\n";
    }
    SUBCASE("a long status line") {
        head = "HTTP/1.1 200 " + std::string(70'000, 'b') + "\r\n\r\n";
    }
    SUBCASE("a field more than anyone needs") {
        head = many_fields(129);
    }
    SUBCASE("very many fields") {
        head = many_fields(10'000);
    }
    SUBCASE("no end of lines") {
        head = std::string(70'000, '\n');
    }

    Scripted scripted;
    scripted.upstream->send_some(head);

    CHECK(scripted.client.read_head().starts_with("HTTP/1.1 502 "));
    scripted.client.read_until("}\n");
    scripted.check_goes_on_afresh();
}

TEST_CASE("as many fields as a head may have go on") {
    Scripted scripted;
    std::string head = many_fields(127);
    head.insert(head.size() - 2, "Content-Length: 2\r\n");

    scripted.answer(head + "hi", 100, false);

    CHECK(read_response(scripted.client).ends_with("\r\n\r\nhi"));
}

TEST_CASE("101 that was not asked for is a 502, wherever it is cut") {
    check_refused("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                  "Upgrade: websocket\r\n\r\nGET / HTTP/1.1\r\n\r\n");
}
