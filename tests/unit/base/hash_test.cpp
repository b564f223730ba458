#include "base/hash.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace stint;

TEST_CASE("one hasher gives one text one hash") {
    const KeyHasher hasher;

    CHECK(hasher("192.0.2.1") == hasher(std::string{"192.0.2.1"}));
}

TEST_CASE("two hashers give one text different hashes") {
    CHECK(KeyHasher{}("192.0.2.1") != KeyHasher{}("192.0.2.1"));
}

TEST_CASE("texts that differ in one bit, in length or in a zero byte have different hashes") {
    const KeyHasher hasher;
    const std::set<Hash128> hashes{
        hasher(""),
        hasher("a"),
        hasher("c"),
        hasher("aa"),
        hasher(std::string_view{"a\0", 2}),
        hasher(std::string_view{"\0", 1})};

    CHECK(hashes.size() == 6);
}

TEST_CASE("both halves of a hash depend on the text") {
    const KeyHasher hasher;

    CHECK(hasher("a").high != hasher("b").high);
    CHECK(hasher("a").low != hasher("b").low);
}

TEST_CASE("tokens are equal only if every byte is") {
    CHECK(equal_in_constant_time("secret", "secret"));
    CHECK(equal_in_constant_time("", ""));
    CHECK_FALSE(equal_in_constant_time("secret", "secreT"));
    CHECK_FALSE(equal_in_constant_time("secret", "secre"));
    CHECK_FALSE(equal_in_constant_time("secret", ""));
}

TEST_CASE("a secret makes one key in each process, and another secret another key") {
    CHECK(key_of_secret("a secret") == key_of_secret(std::string{"a secret"}));
    CHECK(key_of_secret("a secret") != key_of_secret("a secret "));
    CHECK(key_of_secret("") != KeyHasher::Key{});
    // BLAKE2b of 16 bytes, as `b2sum -l 128` computes it.
    const KeyHasher::Key key = key_of_secret("stint");
    CHECK(key[0] == 0xcf);
    CHECK(key[15] == 0xb3);
}
