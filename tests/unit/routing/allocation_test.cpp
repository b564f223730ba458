// Counts allocations: once its scratch is warm, working out a request's keys and client costs none.
#include "allocations.hpp"
#include "routing/charges.hpp"
#include "routing/trusted_proxies.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::routing;
using Kind = KeySource::Kind;

LimitTermsPtr keyed_by(std::vector<KeySource> sources, AddressPrefixes prefixes = {}) {
    LimitTerms limit;
    limit.key = KeyTemplate{std::move(sources), prefixes};
    limit.quota = 1;
    KeyRules rules;
    OverrideSet overrides;
    overrides.add("a-long-exact-key-that-no-small-string-could-hold", {2});
    overrides.add("gold-*", {3});
    rules.overrides = std::make_shared<const OverrideSet>(std::move(overrides));
    rules.exempt.networks.push_back(Cidr::parse("10.0.0.0/8").value());
    limit.rules = std::make_shared<const KeyRules>(std::move(rules));
    return std::make_shared<const LimitTerms>(std::move(limit));
}

} // namespace

TEST_CASE("keys, exceptions and the client's address allocate nothing once warm") {
    const KeyHasher hasher;
    std::vector<LimitTermsPtr> terms;
    terms.push_back(keyed_by({{Kind::client_ip, ""}}));
    terms.push_back(keyed_by({{Kind::client_ip, ""}}, {24, 48}));
    terms.push_back(keyed_by({{Kind::header, "x-key"}}));
    terms.push_back(keyed_by({{Kind::header, "x-lines"}}));
    terms.push_back(keyed_by({{Kind::query, "q"}}));
    terms.push_back(keyed_by({{Kind::jwt, "sub"}}));
    terms.push_back(keyed_by(
        {{Kind::client_ip, ""},
         {Kind::header, "x-lines"},
         {Kind::query, "q"},
         {Kind::jwt, "sub"}}));
    Route route;
    for (std::uint32_t i = 0; i < terms.size(); ++i)
        route.limits.push_back({.index = i});
    const std::vector<Field> fields{
        {FieldId::other, "X-Key", "a-key-that-is-longer-than-any-small-string-could-be"},
        {FieldId::other, "X-Lines", "the-first-line-of-several-that-are-joined"},
        {FieldId::other, "X-Lines", "the|second|line"},
        {FieldId::other, "Authorization", "Bearer e30.eyJzdWIiOiJhLWxvbmctc3ViamVjdC1uYW1lIn0.x"},
        {FieldId::x_forwarded_for, "X-Forwarded-For", "203.0.113.7, 2001:db8::1, 10.0.0.2"}};
    const TrustedProxies trusted{{Cidr::parse("10.0.0.0/8").value()}, false, "x-forwarded-for"};
    std::string scratch;
    std::size_t keys = 0;
    const auto ask = [&] {
        const IpAddress peer = IpAddress::parse("10.0.0.1").value();
        const ClientAddress client{client_behind(peer, fields, trusted), hasher};
        const Charges made = charges_of(
            route, terms,
            {.client = client, .hasher = hasher, .fields = fields, .query = "p=1&q=a%20b+c%7C"},
            scratch);
        keys = made.charges.size();
    };
    ask();

    CHECK(test::allocations_in(ask) == 0);
    CHECK(keys == terms.size());
}
