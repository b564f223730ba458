#include "routing/key_template.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::routing;
using Kind = KeySource::Kind;

// A request, and what a template makes of it.
struct Request {
    std::string client = "192.0.2.1";
    std::vector<Field> fields;
    std::string query;
    std::string host = "shop.example";
    std::string path = "/products";
    std::string method = "GET";
    std::string route = "product";
    std::string tls_subject;

    struct Made {
        Hash128 hash;
        std::string text;
        bool missing;
    };
    [[nodiscard]] Made operator()(const KeyTemplate& by) const {
        const ClientAddress address{IpAddress::parse(client).value_or(IpAddress{}), hasher};
        std::string scratch;
        const Key key = by.evaluate(
            {address, hasher, fields, query, host, path, method, route, tls_subject}, scratch);
        return {key.hash, std::string{key.text}, key.missing};
    }

    static inline const KeyHasher hasher;
};

Request from(std::string client) {
    Request request;
    request.client = std::move(client);
    return request;
}

Request with(std::string_view a, std::string_view b) {
    Request request;
    request.fields = {{FieldId::other, "A", a}, {FieldId::other, "B", b}};
    return request;
}

const KeyTemplate by_client{{{Kind::client_ip, ""}}};
const KeyTemplate by_both{{{Kind::header, "a"}, {Kind::header, "b"}}};

} // namespace

TEST_CASE("a template's text tells it from every other") {
    CHECK(KeyTemplate{}.text().empty());
    CHECK(by_client.text() == "client_ip");
    CHECK(KeyTemplate({{Kind::client_ip, ""}}, {24, 56}).text() == "client_ip(24,56)");
    CHECK(
        KeyTemplate{{{Kind::host, ""}, {Kind::header, "x-key"}, {Kind::jwt, "sub"}}}.text() ==
        "host|header:x-key|jwt:sub");
    CHECK(KeyTemplate{{{Kind::cookie, "c"}}}.text() == "cookie:c");
    CHECK(KeyTemplate{{{Kind::query, "q"}}}.text() == "query:q");
    CHECK(KeyTemplate{{{Kind::tls_subject, ""}}}.text() == "tls:subject");
    CHECK(
        KeyTemplate{{{Kind::path, ""}, {Kind::method, ""}, {Kind::route, ""}}}.text() ==
        "path|method|route");
    CHECK(KeyTemplate{}.empty());
    CHECK_FALSE(by_client.empty());
}

TEST_CASE("without a source every request has one key") {
    CHECK(from("192.0.2.1")(KeyTemplate{}).hash == from("192.0.2.2")(KeyTemplate{}).hash);
    CHECK_FALSE(Request{}(KeyTemplate{}).missing);
}

TEST_CASE("a method's key is in upper case") {
    const KeyTemplate by_method{{{Kind::route, ""}, {Kind::method, ""}}};
    Request request;
    request.method = "pAtch-1";

    CHECK(request(by_method).text == "product|PATCH-1");
    CHECK(request(KeyTemplate{{{Kind::method, ""}}}).text == "PATCH-1");
}

TEST_CASE("an IPv4 client is its address, an IPv6 client its /64") {
    CHECK(from("192.0.2.1")(by_client).text == "192.0.2.1");
    CHECK(from("192.0.2.1")(by_client).hash != from("192.0.2.2")(by_client).hash);
    CHECK(from("2001:db8:1:2::1")(by_client).text == "2001:db8:1:2::/64");
    CHECK(from("2001:db8:1:2::1")(by_client).hash == from("2001:db8:1:2:3::4")(by_client).hash);
    CHECK(from("2001:db8:1:2::1")(by_client).hash != from("2001:db8:1:3::1")(by_client).hash);
}

TEST_CASE("prefixes say how much of an address counts") {
    const KeyTemplate wide{{{Kind::client_ip, ""}}, {24, 56}};

    CHECK(from("192.0.2.1")(wide).text == "192.0.2.0/24");
    CHECK(from("192.0.2.1")(wide).hash == from("192.0.2.254")(wide).hash);
    CHECK(from("192.0.2.1")(wide).hash != from("192.0.3.1")(wide).hash);
    CHECK(from("2001:db8:1:2ff::1")(wide).text == "2001:db8:1:200::/56");
    CHECK(from("2001:db8:1:2ff::1")(wide).hash == from("2001:db8:1:200::1")(wide).hash);

    const KeyTemplate whole{{{Kind::client_ip, ""}}, {32, 128}};
    CHECK(from("2001:db8::1")(whole).text == "2001:db8::1");
    CHECK(from("2001:db8::1")(whole).hash != from("2001:db8::2")(whole).hash);
}

TEST_CASE("a mapped and a NAT64 address are the IPv4 client's") {
    CHECK(from("::ffff:192.0.2.1")(by_client).hash == from("192.0.2.1")(by_client).hash);
    CHECK(from("64:ff9b::192.0.2.1")(by_client).hash == from("192.0.2.1")(by_client).hash);
    CHECK(from("64:ff9b::192.0.2.1")(by_client).hash != from("64:ff9b::192.0.2.2")(by_client).hash);
}

TEST_CASE("each source is its part of the request") {
    Request request = with("1", "2");
    request.query = "q=3";
    request.fields.push_back({FieldId::other, "Cookie", "c=4"});
    request.fields.push_back({FieldId::other, "Authorization", "Bearer e30.eyJzdWIiOiI1In0.x"});

    CHECK(request(KeyTemplate{{{Kind::header, "b"}}}).text == "2");
    CHECK(request(KeyTemplate{{{Kind::query, "q"}}}).text == "3");
    CHECK(request(KeyTemplate{{{Kind::cookie, "c"}}}).text == "4");
    CHECK(request(KeyTemplate{{{Kind::jwt, "sub"}}}).text == "5");
    CHECK(request(KeyTemplate{{{Kind::tls_subject, ""}}}).missing);
    request.tls_subject = "CN=robot";
    CHECK(request(KeyTemplate{{{Kind::tls_subject, ""}}}).text == "CN=robot");
    CHECK(request(KeyTemplate{{{Kind::host, ""}}}).text == "shop.example");
    CHECK(request(KeyTemplate{{{Kind::path, ""}}}).text == "/products");
    CHECK(request(KeyTemplate{{{Kind::method, ""}}}).text == "GET");
    CHECK(request(KeyTemplate{{{Kind::route, ""}}}).text == "product");
}

TEST_CASE("all requests whose key is missing have one key, which is no one else's") {
    const KeyTemplate by_header{{{Kind::header, "a"}}};
    const auto missing = Request{}(by_header);

    CHECK(missing.missing);
    CHECK(missing.text.empty());
    CHECK(missing.hash == from("192.0.2.9")(by_header).hash);
    CHECK(missing.hash == with("", "b")(by_header).hash);
    CHECK(missing.hash != with("a", "b")(by_header).hash);
    CHECK(Request{}(by_both).hash == with("a", "")(by_both).hash);
    CHECK(with("a", "")(by_both).missing);
    CHECK(from("")(by_client).missing);
    Request without_host;
    without_host.host = "";
    CHECK(without_host(KeyTemplate{{{Kind::host, ""}}}).missing);
    CHECK_FALSE(from("0.0.0.0")(by_client).missing);
    CHECK_FALSE(with("a", "b")(by_both).missing);
}

TEST_CASE("a missing part may count as empty, and then the others still make the key") {
    const KeyTemplate partial{{{Kind::header, "a"}, {Kind::header, "b"}}, {}, MissingPart::empty};

    CHECK(with("a", "")(partial).text == "a|");
    CHECK_FALSE(with("a", "")(partial).missing);
    CHECK(with("", "a")(partial).text == "|a");
    CHECK(with("a", "")(partial).hash != with("b", "")(partial).hash);
    CHECK(with("a", "")(partial).hash != with("", "a")(partial).hash);
    CHECK(with("a|", "")(partial).text == "a%7C|");
    CHECK(with("a", "b")(partial).hash == with("a", "b")(by_both).hash);
    CHECK(partial.text() == by_both.text());
    CHECK(with("", "")(partial).missing);
    CHECK(with("", "")(partial).hash == with("", "")(by_both).hash);

    const KeyTemplate with_client{
        {{Kind::client_ip, ""}, {Kind::header, "a"}}, {}, MissingPart::empty};
    CHECK(from("")(with_client).missing);
    CHECK(from("192.0.2.9")(with_client).text == "192.0.2.9|");
    Request unix_peer = with("x", "");
    unix_peer.client = "";
    CHECK(unix_peer(with_client).text == "|x");
}

TEST_CASE("values that are put together differently are different keys") {
    CHECK(with("a", "b")(by_both).text == "a|b");
    CHECK(with("a|b", "c")(by_both).text == "a%7Cb|c");
    CHECK(with("a", "b|c")(by_both).text == "a|b%7Cc");
    CHECK(with("a|b", "c")(by_both).hash != with("a", "b|c")(by_both).hash);
    CHECK(with("a%7Cb", "c")(by_both).text == "a%257Cb|c");
    CHECK(with("|%|", "%%")(by_both).text == "%7C%25%7C|%25%25");
    CHECK(with("a|b", "")(KeyTemplate{{{Kind::header, "a"}}}).text == "a|b");
}

TEST_CASE("no two pairs of values have one text") {
    std::vector<std::string> values{""};
    for (std::size_t i = 0; i < values.size() && values[i].size() < 3; ++i)
        for (const char c : {'|', '%', '2', '7', 'C'})
            values.push_back(values[i] + c);
    values.erase(values.begin());

    std::set<std::string> texts;
    for (const std::string& a : values)
        for (const std::string& b : values)
            texts.insert(with(a, b)(by_both).text);

    CHECK(texts.size() == values.size() * values.size());
}

TEST_CASE("composite keys take decoded and joined values too") {
    Request request = with("1", "x");
    request.fields.push_back({FieldId::other, "a", "2|"});
    request.query = "q=%7C+";
    request.client = "2001:db8::1";
    const KeyTemplate all{
        {{Kind::header, "a"}, {Kind::query, "q"}, {Kind::client_ip, ""}, {Kind::method, ""}}};

    CHECK(request(all).text == "1, 2%7C|%7C |2001:db8::/64|GET");
}

TEST_CASE("a key's hash is that of its text") {
    const auto agrees = [](const Request& request, const KeyTemplate& by) {
        const auto made = request(by);
        return by.hash_of(made.text, Request::hasher) == made.hash &&
               by.canonical(made.text) == made.text;
    };

    CHECK(agrees(from("192.0.2.1"), by_client));
    CHECK(agrees(from("2001:db8::1"), by_client));
    CHECK(agrees(from(""), by_client));
    CHECK(agrees(from("2001:db8::1"), KeyTemplate{{{Kind::client_ip, ""}}, {24, 56}}));
    CHECK(agrees(from("192.0.2.1"), KeyTemplate{{{Kind::client_ip, ""}}, {24, 56}}));
    CHECK(agrees(with("a|b", "%"), by_both));
    CHECK(agrees(Request{}, by_both));
    CHECK(agrees(Request{}, KeyTemplate{{{Kind::path, ""}}}));
    CHECK(agrees(Request{}, KeyTemplate{}));
}

TEST_CASE("a client's key may be named by any address of its network") {
    const auto hash = from("2001:db8:1:2::1")(by_client).hash;

    CHECK(by_client.hash_of("2001:db8:1:2::7", Request::hasher) == hash);
    CHECK(by_client.canonical("2001:db8:1:2::7") == "2001:db8:1:2::/64");
    CHECK(by_client.hash_of("2001:db8:1:2::/80", Request::hasher) == hash);
    CHECK_FALSE(by_client.hash_of("2001:db8::/32", Request::hasher).has_value());
    CHECK_FALSE(by_client.hash_of("nobody", Request::hasher).has_value());
    CHECK_FALSE(by_client.canonical("nobody").has_value());
}
