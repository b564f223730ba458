#include "fixture.hpp"
#include "upstream/resolver.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace stint::upstream;
using namespace stint::upstream::test;

namespace {

struct Looked {
    std::shared_ptr<const AddressBook> book;
    int books = 0;
    std::string failed;
    bool ready = false;

    stint::net::asio::io_context loop;
    Resolver resolver{
        loop,
        [this](std::shared_ptr<const AddressBook> latest) {
            book = std::move(latest);
            ++books;
        },
        [this](const std::string& name, const std::string&) { failed = name; }};
};

} // namespace

TEST_CASE("addresses are not names, everything else is one") {
    for (const char* address : {"127.0.0.1", "::1", "2001:db8::1", "0.0.0.0"}) {
        CAPTURE(address);
        CHECK_FALSE(Resolver::is_name(address));
    }
    for (const char* name : {"localhost", "shop.internal", "127.0.0", "1.2.3.4.5", "a"}) {
        CAPTURE(name);
        CHECK(Resolver::is_name(name));
    }
}

TEST_CASE("a name of the hosts file is looked up") {
    Looked looked;

    looked.resolver.watch({{"localhost", 30s}}, [&] { looked.ready = true; });

    stint::test::run_until(looked.loop, [&] { return looked.ready; });
    REQUIRE(looked.book);
    CHECK(looked.books == 1);
    REQUIRE(looked.book->contains("localhost"));
    CHECK_FALSE(Resolver::is_name(looked.book->at("localhost").at(0)));
    looked.resolver.stop();
}

TEST_CASE("a name that cannot be resolved is reported, and the round still ends") {
    Looked looked;
    const std::string impossible(64, 'x'); // longer than a label may be: fails without a network

    looked.resolver.watch({{impossible, 30s}}, [&] { looked.ready = true; });

    stint::test::run_until(looked.loop, [&] { return looked.ready; });
    CHECK(looked.failed == impossible);
    CHECK(looked.books == 0);
    looked.resolver.stop();
}

TEST_CASE("with no names to look after the round ends at once") {
    Looked looked;

    looked.resolver.watch({}, [&] { looked.ready = true; });

    CHECK(looked.ready);
    looked.resolver.stop();
}

TEST_CASE("a stopped resolver leaves nothing to wait for") {
    Looked looked;
    looked.resolver.watch({{"localhost", 30s}});

    looked.resolver.stop();

    looked.loop.run(); // would never return with a timer or a look-up pending
    CHECK(looked.books == 0);
}

TEST_CASE("a name is looked up again as often as it is asked for") {
    Looked looked;
    const std::string impossible(64, 'x');
    looked.resolver.watch({{impossible, 1ms}});
    for (int times = 0; times < 3; ++times) {
        looked.failed.clear();
        stint::test::run_until(looked.loop, [&] { return !looked.failed.empty(); });
    }
    looked.resolver.stop();
}
