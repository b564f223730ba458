#include "admin/access.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace stint::admin;

Policy on_loopback() {
    return {.reach = Reach::loopback, .host = "127.0.0.1", .token = {}, .read_only = false};
}

Policy on_network() {
    return {.reach = Reach::network, .host = "0.0.0.0", .token = "secret", .read_only = false};
}

bool allowed(std::string_view authority, const Policy& policy) {
    return host_allowed(authority, 1, policy);
}

Request change() {
    Request request;
    request.method = "POST";
    request.authority = "localhost:9901";
    return request;
}

Request change_with(const std::string& authorization) {
    Request request = change();
    request.authorizations = {authorization};
    return request;
}

// The status of the refusal, 0 for none.
int refused(const Request& request, const Policy& policy) {
    const auto refusal = refuse_change(request, policy);
    return refusal ? refusal->status : 0;
}

} // namespace

TEST_CASE("the names of this machine are allowed as host, with and without a port") {
    for (const auto* host :
         {"localhost", "LocalHost:9901", "localhost.", "127.0.0.1", "127.0.0.1:9901", "127.9.9.9",
          "[::1]", "[::1]:9901"})
        CHECK_MESSAGE(allowed(host, on_loopback()), host);
}

TEST_CASE("over TLS any name is allowed, since the certificate has to be for it") {
    Policy policy = on_loopback();
    policy.tls = true;

    CHECK(allowed("admin.example:9901", policy));
    CHECK_FALSE(allowed("", policy));
}

TEST_CASE("a name that is configured is allowed, with and without a port, and no other") {
    for (Policy policy : {on_loopback(), on_network()}) {
        policy.hosts = {"stint", "admin.internal"};
        for (const auto* host :
             {"stint", "stint:9901", "Stint:9901", "admin.internal", "ADMIN.internal."})
            CHECK_MESSAGE(allowed(host, policy), host);
        for (const auto* host : {"stint.evil.example", "xstint", "internal", "evil.example", ""})
            CHECK_MESSAGE(!allowed(host, policy), host);
    }
}

TEST_CASE("a name that may have been made to resolve to this machine is not allowed") {
    for (const auto* host :
         {"evil.example", "evil.example:9901", "127.0.0.1.evil.example", "localhost.evil.example",
          "127.1", "[127.0.0.1", "[localhost", "::1.evil"}) {
        CHECK_MESSAGE(!allowed(host, on_loopback()), host);
        CHECK_MESSAGE(!allowed(host, on_network()), host);
    }
}

TEST_CASE("a loopback listener is asked by loopback addresses or its own alone") {
    Policy policy = on_loopback();
    policy.host = "127.0.0.1";

    CHECK_FALSE(allowed("10.0.0.1", policy));
    CHECK_FALSE(allowed("[2001:db8::1]:9901", policy));
}

TEST_CASE("a listener that is open to the network may be asked by any address") {
    CHECK(allowed("10.0.0.1:9901", on_network()));
    CHECK(allowed("[2001:db8::1]:9901", on_network()));
}

TEST_CASE("only a client of HTTP/1.0 may leave the host out") {
    CHECK(host_allowed("", 0, on_loopback()));
    CHECK_FALSE(host_allowed("", 1, on_loopback()));
}

TEST_CASE("no browser reaches a Unix socket, so any host will do") {
    Policy policy = on_loopback();
    policy.reach = Reach::unix_socket;

    CHECK(allowed("whatever", policy));
}

TEST_CASE("without a token changes are allowed") {
    CHECK(refused(change(), on_loopback()) == 0);
}

TEST_CASE("where there is a token a change needs exactly that") {
    CHECK(refused(change_with("Bearer secret"), on_network()) == 0);
    CHECK(refused(change_with("bearer  secret"), on_network()) == 0);
    CHECK(refused(change(), on_network()) == 401);
    for (const auto* wrong :
         {"Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer SECRET", "Basic secret",
          "secret", "Bearersecret"})
        CHECK_MESSAGE(refused(change_with(wrong), on_network()) == 401, wrong);
}

TEST_CASE("two Authorization fields are none") {
    Request request = change_with("Bearer secret");
    request.authorizations.push_back("Bearer secret");

    CHECK(refused(request, on_network()) == 401);
}

TEST_CASE("a refusal for want of a token says which scheme is expected") {
    const auto refusal = refuse_change(change(), on_network());

    REQUIRE(refusal);
    REQUIRE(refusal->fields.size() == 1);
    CHECK(refusal->fields[0].first == "WWW-Authenticate");
    CHECK(refusal->fields[0].second.starts_with("Bearer"));
}

TEST_CASE("a change by a page of another origin is refused, with the token too") {
    for (const auto* origin :
         {"http://evil.example", "null", "http://localhost", "http://localhost:9902", ""}) {
        Request request = change_with("Bearer secret");
        request.origins = {origin};
        CHECK_MESSAGE(refused(request, on_network()) == 403, origin);
    }
}

TEST_CASE("a change by a page of this origin is allowed") {
    Request request = change();
    request.origins = {"http://LOCALHOST:9901"};

    CHECK(refused(request, on_loopback()) == 0);
}

TEST_CASE("one foreign origin among several is enough to refuse") {
    Request request = change();
    request.origins = {"http://localhost:9901", "http://evil.example"};

    CHECK(refused(request, on_loopback()) == 403);
}

TEST_CASE("a read-only listener allows no change, whatever the token") {
    Policy policy = on_network();
    policy.read_only = true;

    CHECK(refused(change_with("Bearer secret"), policy) == 403);
}

TEST_CASE("reading needs a token where there is one for it, except open paths") {
    Policy policy = on_network();
    const auto read = [&](const std::string& path, const std::string& authorization = {}) {
        Request request;
        request.method = "GET";
        request.path = path;
        if (!authorization.empty())
            request.authorizations = {authorization};
        const auto refusal = refuse_read(request, policy);
        return refusal ? refusal->status : 0;
    };
    CHECK(read("/limits") == 0);

    policy.read_token = "looker";
    policy.open_paths = {"/healthz"};
    CHECK(read("/limits") == 401);
    CHECK(read("/limits", "Bearer looker") == 0);
    CHECK(read("/limits", "Bearer secret") == 0); // may change things, too
    CHECK(read("/limits", "Bearer looker2") == 401);
    CHECK(read("/limits", "Bearer ") == 401);
    CHECK(read("/healthz") == 0);
    CHECK(read("/healthz/") == 401);
    CHECK(read("/metrics") == 401);
    CHECK(refused(change_with("Bearer looker"), policy) == 401);

    policy.token.clear();
    CHECK(read("/limits", "Bearer ") == 401);
}
