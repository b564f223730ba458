#include "http/http2_fields.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stint::http;

namespace {

std::string text(const std::vector<Http2Field>& fields) {
    std::string all;
    for (const Http2Field& field : fields)
        all.append(field.name).append("=").append(field.value).append(field.unique ? "!;" : ";");
    return all;
}

} // namespace

TEST_CASE("a head of HTTP/1 becomes the fields of an HTTP/2 response") {
    std::vector<Http2Field> fields;
    fields_of_response(
        "HTTP/1.1 429 Too Many Requests\r\nServer: stint\r\nRetry-After: 3\r\nX-Request-Id: "
        "r\r\nConnection: close, Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: "
        "chunked\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nX-Empty: \r\n\r\n",
        fields);
    CHECK(text(fields) == ":status=429;Server=stint;Retry-After=3;X-Request-Id=r!;X-Empty=;");
}

TEST_CASE("a head without fields has only a status") {
    std::vector<Http2Field> fields{{"left", "over"}};
    fields_of_response("HTTP/1.1 204 No Content\r\n\r\n", fields);
    CHECK(text(fields) == ":status=204;");
}

TEST_CASE("trailer lines become fields") {
    std::vector<Http2Field> fields;
    fields_of_trailer("grpc-status: 0\r\nConnection: x\r\nx-sum: a:b\r\n", fields);
    CHECK(text(fields) == "grpc-status=0;x-sum=a:b;");
}
