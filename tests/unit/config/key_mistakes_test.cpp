// Keys of limits: what they may be, and mistakes in them.
#include "config/values/key_values.hpp"
#include "config_support.hpp"

#include <vector>

namespace stint::config {

namespace {

using Kind = KeySource::Kind;

// `limit` stands at 4:6.
void check_limit(
    std::string_view limit,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_added("limits:\n  a: " + std::string{limit} + "\nroutes: []\n", expected, at);
}

Limit limit_of(std::string_view keys, std::string_view top = "") {
    return loaded(
               std::string{base} + std::string{top} + "limits: {a: {concurrent: 1, " +
               std::string{keys} + "}}\nroutes: []\n")
        .limits.at(0);
}

} // namespace

TEST_CASE("a key is one source or several, in their order") {
    CHECK(
        limit_of("max_keys: 1, key: client_ip").key ==
        std::vector<KeySource>{{Kind::client_ip, ""}});
    CHECK(
        limit_of("key: [jwt:sub, 'header:X-API-Key', cookie:SID, 'query:my key', host, path, "
                 "method, route]")
            .key == std::vector<KeySource>{
                        {Kind::jwt, "sub"},
                        {Kind::header, "x-api-key"},
                        {Kind::cookie, "SID"},
                        {Kind::query, "my key"},
                        {Kind::host, ""},
                        {Kind::path, ""},
                        {Kind::method, ""},
                        {Kind::route, ""}});
    CHECK(
        limit_of("key: 'jwt:https://example.com/tier'").key.at(0).name ==
        "https://example.com/tier");
}

TEST_CASE("a source's text is how it was written") {
    for (const std::string_view text :
         {"client_ip", "header:x-a", "cookie:A", "query:q", "host", "path", "method", "route",
          "jwt:sub", "tls:subject"}) {
        CAPTURE(text);
        const auto source = parse_key_source(text);
        REQUIRE(bool{source});
        CHECK(to_text(*source) == text);
    }
}

TEST_CASE("what is no key says what was meant or what there is") {
    check_limit("{concurrent: 1, key: client-ip}", {"4:27: did you mean \"client_ip\"?"});
    check_limit("{concurrent: 1, key: hedaer:X-K}", {"4:27: did you mean \"header:X-K\"?"});
    check_limit("{concurrent: 1, key: header}", {"4:27: did you mean \"header:NAME\"?"});
    check_limit("{concurrent: 1, key: jwt}", {"4:27: did you mean \"jwt:NAME\"?"});
    check_limit("{concurrent: 1, key: tls:subect}", {"4:27: did you mean \"tls:subject\"?"});
    check_limit("{concurrent: 1, key: paht}", {"4:27: did you mean \"path\"?"});
    check_limit(
        "{concurrent: 1, key: everything}",
        {"4:27: limits.a.key: \"everything\" is not a key; expected client_ip, header:NAME, "
         "cookie:NAME, query:NAME, host, path, method, route, jwt:CLAIM, tls:subject or a list of "
         "these"});
    check_limit(
        "{concurrent: 1, key: 'header:'}", {"4:27: \"header:\" is not a key; expected the name of "
                                            "a header, such as header:X-Api-Key"});
    check_limit("{concurrent: 1, key: 'header:a b'}", {"4:27: expected the name of a header"});
    check_limit("{concurrent: 1, key: 'cookie:a=b'}", {"4:27: expected the name of a cookie"});
    check_limit(
        "{concurrent: 1, key: 'jwt:'}", {"4:27: expected the name of a claim, such as jwt:sub"});
    check_limit(
        "{concurrent: 1, key: {header: x}}",
        {"4:27: found a map; expected a key such as client_ip"});
}

TEST_CASE("a list of keys has one to eight different ones") {
    check_limit(
        "{concurrent: 1, key: []}", {"4:27: limits.a.key: is empty; expected at least one key"});
    check_limit(
        "{concurrent: 1, key: [host, path, host]}",
        {"4:40: limits.a.key[2]: \"host\" is listed already"});
    check_limit(
        "{concurrent: 1, key: [header:A, header:a]}", {"4:38: \"header:a\" is listed already"});
    check_limit("{concurrent: 1, key: [host, [path]]}", {"4:34: limits.a.key[1]: found a list"});
    check_limit(
        "{concurrent: 1, key: [header:a, header:b, header:c, header:d, header:e, header:f, "
        "header:g, header:h, header:i]}",
        {"4:27: limits.a.key: has more than 8 parts"});
}

TEST_CASE("missing_key is one of four words, and for keys that may be missing") {
    CHECK(limit_of("key: host").missing_key == Limit::MissingKey::share);
    CHECK(limit_of("key: host, missing_key: share").missing_key == Limit::MissingKey::share);
    CHECK(limit_of("key: host, missing_key: exempt").missing_key == Limit::MissingKey::exempt);
    CHECK(limit_of("key: host, missing_key: refuse").missing_key == Limit::MissingKey::refuse);
    CHECK(
        limit_of("key: [host, \"query:x\"], missing_key: partial").missing_key ==
        Limit::MissingKey::partial);
    check_limit(
        "{concurrent: 1, key: host, missing_key: partial}",
        {"4:33: limits.a.missing_key: partial is for a key of several sources; expected share, "
         "exempt or refuse"});
    check_limit(
        "{concurrent: 1, key: host, missing_key: excempt}", {"4:46: did you mean \"exempt\"?"});
    check_limit(
        "{concurrent: 1, missing_key: share}",
        {"4:22: limits.a.missing_key: is only for a limit with a key"});
    check_limit(
        "{concurrent: 1, key: [path, method], missing_key: refuse}",
        {"4:43: limits.a.missing_key: has no use: every request has this key"});
}

TEST_CASE("prefixes are those of the limit, else of the file, else 32 and 64") {
    const auto prefixes = [](std::string_view keys, std::string_view top = "") {
        const AddressPrefixes found = limit_of(keys, top).prefixes;
        return std::pair<int, int>{found.ipv4, found.ipv6};
    };

    CHECK(prefixes("key: client_ip") == std::pair{32, 64});
    CHECK(prefixes("key: client_ip, ipv6_prefix: 48") == std::pair{32, 48});
    CHECK(prefixes("key: client_ip", "ipv6_prefix: 56\n") == std::pair{32, 56});
    CHECK(
        prefixes("key: client_ip, ipv4_prefix: 24", "ipv6_prefix: 56\nipv4_prefix: 31\n") ==
        std::pair{24, 56});
}

TEST_CASE("a prefix is in range, and for a key with an address") {
    check_limit(
        "{concurrent: 1, key: client_ip, ipv4_prefix: 33}",
        {"4:51: is too large; expected a whole number from 1 to 32"});
    check_limit(
        "{concurrent: 1, key: client_ip, ipv6_prefix: 129}",
        {"4:51: is too large; expected a whole number from 1 to 128"});
    check_limit("{concurrent: 1, key: client_ip, ipv6_prefix: 0}", {"4:51: \"0\" is zero"});
    check_limit(
        "{concurrent: 1, key: host, ipv6_prefix: 64}",
        {"4:33: limits.a.ipv6_prefix: is only for a limit with client_ip in its key"});
    check_limit(
        "{concurrent: 1, ipv4_prefix: 24}",
        {"4:22: is only for a limit with client_ip in its key"});
    check_added("ipv6_prefix: 200\nroutes: []\n", {"3:14: ipv6_prefix: \"200\" is too large"});
}

} // namespace stint::config
