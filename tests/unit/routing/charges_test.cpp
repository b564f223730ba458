#include "routing/charges.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::routing;

const KeyHasher hasher;

limits::LimitPtr window(std::string name) {
    limits::LimitSpec spec;
    spec.identity = {.name = std::move(name), .key = "header:k", .per = std::chrono::minutes{1}};
    spec.quota = 10;
    return std::make_shared<limits::Limit>(spec);
}

LimitTerms by_header(std::string name, MissingKey missing = MissingKey::share) {
    LimitTerms limit;
    limit.limit = window(std::move(name));
    limit.quota = 10;
    limit.key = KeyTemplate{{{KeySource::Kind::header, "k"}}};
    limit.missing_key = missing;
    return limit;
}

// A route with limits.
struct Limited {
    explicit Limited(const std::vector<LimitTerms>& limits) {
        for (const LimitTerms& each : limits) {
            route.limits.push_back({.index = static_cast<std::uint32_t>(terms.size())});
            terms.push_back(std::make_shared<const LimitTerms>(each));
        }
    }
    [[nodiscard]] AppliedLimit limit(std::size_t i) const {
        return {terms[i].get(), &route.limits[i]};
    }

    Route route;
    std::vector<LimitTermsPtr> terms;
};

// Charges for a request of 192.0.2.1 with the header K.
Charges charges(const Limited& of, std::string_view key) {
    const ClientAddress client{IpAddress::parse("192.0.2.1").value(), hasher};
    const std::vector<Field> fields{{FieldId::other, "K", key}};
    std::string scratch;
    return charges_of(
        of.route, of.terms, {.client = client, .hasher = hasher, .fields = fields}, scratch);
}

Charges charges(const LimitTerms& limit, std::string_view key) {
    return charges(Limited{{limit}}, key);
}

LimitTerms with_rules(KeyList exempt, KeyList deny, OverrideSet overrides) {
    LimitTerms limit = by_header("a");
    limit.rules = std::make_shared<const KeyRules>(KeyRules{
        std::move(exempt), std::move(deny),
        std::make_shared<const OverrideSet>(std::move(overrides))});
    return limit;
}

KeyList listing(std::string_view network, const std::string& key) {
    KeyList list;
    if (!network.empty())
        list.networks.push_back(Cidr::parse(network).value());
    if (!key.empty())
        list.keys.add(key, {});
    return list;
}

} // namespace

TEST_CASE("each limit charges the request's key with its own number") {
    LimitTerms other = by_header("b");
    other.quota = 7;
    const Limited both{{by_header("a"), other}};

    const Charges made = charges(both, "x");

    REQUIRE(made.charges.size() == 2);
    CHECK(made.charges[0].limit == both.terms[0]->limit.get());
    CHECK(made.charges[0].key == hasher("x"));
    CHECK(made.charges[0].quota == 10);
    CHECK(made.charges[1].quota == 7);
    CHECK(made.limits[1] == both.limit(1));
    CHECK(made.exempt == 0);
    CHECK(made.denial == Denial::none);
}

TEST_CASE("a missing key shares, is exempt, or is denied") {
    CHECK(charges(by_header("a"), "").charges[0].key == hasher(""));

    const Charges exempt = charges(by_header("a", MissingKey::exempt), "");
    CHECK(exempt.charges.size() == 0);
    CHECK(exempt.exempt == 1);

    const Charges partial = charges(by_header("a", MissingKey::partial), "");
    CHECK(partial.charges.size() == 0);
    CHECK(partial.exempt == 1);

    const LimitTerms refusing = by_header("a", MissingKey::refuse);
    CHECK(charges(refusing, "").denial == Denial::missing_key);
    CHECK(charges(refusing, "x").charges.size() == 1);
    CHECK(
        describe(refusing, Denial::missing_key) ==
        "it needs header:k, which the request does not have");
}

TEST_CASE("an exempt limit leaves its place to those behind it") {
    const Limited both{{by_header("a", MissingKey::exempt), by_header("b")}};

    const Charges made = charges(both, "");

    REQUIRE(made.charges.size() == 1);
    CHECK(made.limits[0] == both.limit(1));
    CHECK(made.exempt == 1);
}

TEST_CASE("an override gives a key another number") {
    OverrideSet overrides;
    overrides.add("gold-*", {100});
    overrides.add("gold-1", {1000});
    const LimitTerms limit = with_rules({}, {}, std::move(overrides));

    CHECK(charges(limit, "gold-1").charges[0].quota == 1000);
    CHECK(charges(limit, "gold-2").charges[0].quota == 100);
    CHECK(charges(limit, "x").charges[0].quota == 10);
}

TEST_CASE("an override without a burst has the limit's") {
    OverrideSet overrides;
    overrides.add("own", {100, 7});
    overrides.add("other", {100});
    LimitTerms limit = with_rules({}, {}, std::move(overrides));
    limit.burst = 3;

    CHECK(charges(limit, "own").charges[0].burst == 7);
    CHECK(charges(limit, "other").charges[0].burst == 3);
    CHECK(charges(limit, "x").charges[0].burst == 3);
}

TEST_CASE("a missing key has no override") {
    OverrideSet overrides;
    overrides.add("*", {100});

    CHECK(charges(with_rules({}, {}, std::move(overrides)), "").charges[0].quota == 10);
}

TEST_CASE("clients and keys may be exempt, or denied; who is both is denied") {
    const LimitTerms by_client = with_rules(listing("192.0.2.0/24", ""), {}, {});
    CHECK(charges(by_client, "x").exempt == 1);
    CHECK(charges(by_client, "").exempt == 1);
    const LimitTerms by_key = with_rules(listing("10.0.0.0/8", "friend-*"), {}, {});
    CHECK(charges(by_key, "friend-1").exempt == 1);
    CHECK(charges(by_key, "x").charges.size() == 1);
    const LimitTerms denying = with_rules({}, listing("", "foe"), {});
    CHECK(charges(denying, "foe").denial == Denial::listed);
    const Limited route{{denying}}; // which the charges refer to
    CHECK(charges(route, "foe").denied_by->limit == denying.limit);
    CHECK(charges(denying, "foe").charges.size() == 0);
    CHECK(charges(denying, "x").charges.size() == 1);
    const LimitTerms both = with_rules(listing("192.0.2.1", ""), listing("", "foe"), {});
    CHECK(charges(both, "foe").denial == Denial::listed);
    CHECK(charges(both, "x").exempt == 1);
}
