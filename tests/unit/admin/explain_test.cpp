// Descriptions of requests that nobody sent: what they may say, and what limits see of them.
#include "admin/explain.hpp"
#include "routing/key_template.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::admin;
using Kind = routing::KeySource::Kind;

// What a limit with this key counts the request by; "missing" where it has no such key.
std::string key_of(std::string_view description, const std::vector<routing::KeySource>& sources) {
    const auto request = described_in(description);
    REQUIRE(bool{request});
    const routing::Snapshot snapshot{};
    const KeyHasher hasher;
    runtime::RequestReader reader;
    const auto seen = reader.read(*request, snapshot, hasher);
    REQUIRE(bool{seen});
    std::string scratch;
    const routing::Key key = routing::KeyTemplate{sources}.evaluate(seen->facts, scratch);
    return key.missing ? "missing" : std::string{key.text};
}

std::string what_is_wrong_with(std::string_view description) {
    const auto request = described_in(description);
    REQUIRE_FALSE(bool{request});
    CHECK(request.error().status == 400);
    return Json::parse(request.error().body)["detail"].get<std::string>();
}

} // namespace

TEST_CASE("a described request has the client, the fields and the subject that it says") {
    const std::string_view described =
        R"({"client_ip": "192.0.2.1", "tls_subject": "CN=robot,O=Example", "headers": {"X-K": "k"}})";

    CHECK(key_of(described, {{Kind::client_ip, ""}}) == "192.0.2.1");
    CHECK(key_of(described, {{Kind::tls_subject, ""}}) == "CN=robot,O=Example");
    CHECK(key_of(described, {{Kind::header, "x-k"}}) == "k");
    CHECK(
        key_of(described, {{Kind::tls_subject, ""}, {Kind::header, "x-k"}}) ==
        "CN=robot,O=Example|k");
}

TEST_CASE("a described request shows no certificate unless it says so") {
    CHECK(key_of("{}", {{Kind::tls_subject, ""}}) == "missing");
    CHECK(key_of(R"({"tls_subject": ""})", {{Kind::tls_subject, ""}}) == "missing");
}

TEST_CASE("a description that makes no sense says what is wrong") {
    CHECK(
        what_is_wrong_with(R"({"subject": "CN=robot"})") ==
        R"("subject" is unknown: there are method, host, path, client_ip, tls_subject, headers.)");
    CHECK(what_is_wrong_with(R"({"tls_subject": 1})") == R"("tls_subject" must be a text.)");
    CHECK(
        what_is_wrong_with(R"({"tls_subject": "CN=a\nb"})") ==
        R"("tls_subject" has a line end in it.)");
    CHECK(what_is_wrong_with(R"({"client_ip": "x"})") == R"("client_ip" is not an IP address.)");
    CHECK(
        what_is_wrong_with(R"({"host": "a", "headers": {"A": "1", "A": "2"}})") ==
        R"(The body has "A" twice.)");
}

TEST_CASE("a described expectation that no server meets is refused as a real one") {
    const auto request = described_in(R"({"host": "a", "headers": {"Expect": "foo"}})");
    REQUIRE(bool{request});
    const routing::Snapshot snapshot{};
    const KeyHasher hasher;
    runtime::RequestReader reader;

    const auto seen = reader.read(*request, snapshot, hasher);

    REQUIRE_FALSE(bool{seen});
    CHECK(seen.error().status == 417);
}
