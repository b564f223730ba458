// The gateway's own refusals for clients of gRPC.
#include "http/grpc_reply.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

using namespace stint;
using namespace stint::http;
using namespace std::chrono_literals;

namespace {

bool asks_by(std::string_view name, std::string_view value) {
    const std::array fields{Field{{}, name, value}};
    return is_grpc(fields);
}

std::string refusal(std::string_view body, const GrpcRefusal& refused) {
    Response reply;
    reply.begin(429, "text/plain");
    reply.fields() << "Retry-After: 2\r\n";
    reply.body() << body;
    turn_into_grpc(reply, refused);
    CHECK(reply.status() == 200);
    CHECK(reply.content_type() == "application/grpc");
    CHECK(reply.content() == Response::Content::none);
    CHECK(reply.body_text().empty());
    return std::string{reply.field_lines()};
}

} // namespace

TEST_CASE("a request of gRPC is known by its content type") {
    CHECK(asks_by("content-type", "application/grpc"));
    CHECK(asks_by("Content-Type", "Application/gRPC+proto"));
    CHECK(asks_by("content-type", "application/grpc;charset=utf-8"));
    CHECK_FALSE(asks_by("content-type", "application/grpc-web"));
    CHECK_FALSE(asks_by("content-type", "application/grp"));
    CHECK_FALSE(asks_by("content-types", "application/grpc"));
    CHECK_FALSE(is_grpc({}));
}

TEST_CASE("a refusal says when to retry, three times") {
    // The details are those that another encoder of Protocol Buffers makes.
    CHECK(
        refusal("429 Too Many Requests\n100 % full\n", {GrpcCode::resource_exhausted, 1500ms}) ==
        "Retry-After: 2\r\n"
        "Grpc-Status: 8\r\n"
        "Grpc-Message: 429 Too Many Requests%0A100 %25 full\r\n"
        "Grpc-Status-Details-Bin: "
        "CAgSIDQyOSBUb28gTWFueSBSZXF1ZXN0cwoxMDAgJSBmdWxsGjYKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xl"
        "LnJwYy5SZXRyeUluZm8SCgoICAEQgMq17gE\r\n"
        "Grpc-Retry-Pushback-Ms: 1500\r\n");
}

TEST_CASE("a refusal that a retry does not change says no time") {
    CHECK(
        refusal("404 Not Found\n", {GrpcCode::unimplemented}) ==
        "Retry-After: 2\r\nGrpc-Status: 12\r\nGrpc-Message: 404 Not Found\r\n"
        "Grpc-Status-Details-Bin: CAwSDTQwNCBOb3QgRm91bmQ\r\n");
    const std::string never = refusal("x", {GrpcCode::resource_exhausted, std::nullopt, true});
    CHECK(never.ends_with("Grpc-Retry-Pushback-Ms: -1\r\n"));
}

TEST_CASE("a short time is at least a millisecond, and a long message is cut") {
    CHECK(refusal("x", {GrpcCode::unavailable, 1ns}).ends_with("Pushback-Ms: 1\r\n"));
    const std::string text = refusal(std::string(5000, 'x'), {GrpcCode::unavailable});
    CHECK(text.find("Grpc-Message: " + std::string(1024, 'x') + "\r\n") != std::string::npos);
    CHECK(refusal("\xc3\xa9\x7f", {}).find("Grpc-Message: %C3%A9%7F\r\n") != std::string::npos);
}

TEST_CASE("other statuses have the codes that clients would take them for") {
    CHECK(grpc_code_of(400) == GrpcCode::internal);
    CHECK(grpc_code_of(401) == GrpcCode::unauthenticated);
    CHECK(grpc_code_of(403) == GrpcCode::permission_denied);
    CHECK(grpc_code_of(404) == GrpcCode::unimplemented);
    for (const int status : {429, 502, 503, 504})
        CHECK(grpc_code_of(status) == GrpcCode::unavailable);
    CHECK(grpc_code_of(413) == GrpcCode::unknown);
}
