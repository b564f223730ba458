// What the tests of configurations share: texts that are right, and a look at what is wrong.
#pragma once

#include "config/load.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>

namespace stint::config {

// The configuration that the project's documentation shows first.
inline constexpr std::string_view shop =
    R"(workers: auto                    # one I/O thread per core
listeners:
  - address: 0.0.0.0:8080        # IPv4, [IPv6]:port, unix:/path
admin:
  address: 127.0.0.1:9901
timeouts: {head: 10s, body_idle: 30s, idle: 60s, connect: 2s, response: 60s, drain: 10s}
max_connections: 10000
max_head: 16KiB                  # request or response head
access_log: {path: stdout}       # stdout | FILE | off
upstreams:
  shop: {endpoints: [127.0.0.1:9000]}
limits:                          # named: shared by every route (and later API) that names them
  per_client:  {requests: 100, per: 1m, key: client_ip}
  shop_budget: {requests: 5, per: 800ms}
  stage_product: {concurrent: 3}
routes:
  - name: product
    match: {host: shop.example, path: /products, methods: [GET, HEAD]}
    upstream: shop
    limits: [per_client, shop_budget, stage_product, {requests: 10, per: 1s, key: client_ip}]
)";

// A listener and an upstream in the first two lines; what is tested begins on line 3.
inline constexpr std::string_view base = "listeners: [{address: 127.0.0.1:8080}]\n"
                                         "upstreams: {shop: {endpoints: [127.0.0.1:9000]}}\n";
inline constexpr std::string_view no_routes = "routes: []\n";

inline std::string text_of(const ConfigErrors& mistakes) {
    std::string all;
    for (const ConfigError& mistake : mistakes)
        all += mistake.text() + '\n';
    return all;
}

inline Config
loaded(std::string_view yaml, std::source_location at = std::source_location::current()) {
    auto result = load_text(yaml, "test.yaml");
    if (result)
        return *result;
    INFO("called on line " << at.line());
    FAIL(text_of(result.error()));
    return {};
}

// Each expectation is "line:column: " and a part of the message; there must be no other mistake.
inline void check_mistakes(
    std::string_view yaml,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    INFO("called on line " << at.line() << " with\n" << std::string{yaml.substr(0, 500)});
    const auto result = load_text(yaml, "test.yaml");
    const ConfigErrors found = result ? ConfigErrors{} : result.error();
    INFO("found\n" << text_of(found));
    CHECK(found.size() == expected.size());
    auto mistake = found.begin();
    for (const std::string_view wanted : expected) {
        if (mistake == found.end())
            break;
        INFO("wanted " << std::string{wanted});
        const std::size_t end_of_place = wanted.find(": ") + 2;
        const std::string place = "test.yaml:" + std::string{wanted.substr(0, end_of_place)};
        CHECK(mistake->text().starts_with(place));
        CHECK(mistake->message.find(wanted.substr(end_of_place)) != std::string::npos);
        ++mistake;
    }
}

// The same for lines added to `base`.
inline void check_added(
    std::string_view lines,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_mistakes(std::string{base} + std::string{lines}, expected, at);
}

} // namespace stint::config
