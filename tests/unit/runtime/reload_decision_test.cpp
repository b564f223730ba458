#include "runtime/watch/reload_decision.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>

namespace {

using namespace stint;
using namespace std::chrono_literals;
using runtime::FileContents;
using runtime::ReloadDecision;
using Verdict = ReloadDecision::Verdict;

constexpr bool tls = true;

// A decision about two files, in virtual time.
struct Watched {
    Watched() { decision.tried(files, true, now); }

    // What look() says to the present contents at each time that next_look() asks for, until
    // something is to be done, or the files were looked at `most` times.
    Verdict next(int most = 1) {
        for (int i = 0; i < most; ++i) {
            now = decision.next_look();
            if (const Verdict verdict = decision.look(files, now); verdict != Verdict::nothing)
                return verdict;
        }
        return Verdict::nothing;
    }
    // As the editor or the gateway does it, `later` than the last event or look.
    void write(std::size_t file, std::uint64_t content, Duration later = 0ns) {
        now += later;
        files[file].hash = Hash128{0, content};
        decision.on_event(now);
    }
    void remove(std::size_t file) {
        files[file].hash.reset();
        decision.on_event(now);
    }

    FileContents files{{"stint.yaml", !tls, Hash128{0, 1}}, {"shop.pem", tls, Hash128{0, 1}}};
    SteadyTime now{1h};
    ReloadDecision decision;
};

} // namespace

TEST_CASE("the files are looked at soon after a reload, and then as often as the poll says") {
    Watched watched;
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::debounce);
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::poll);
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("a changed content is read once") {
    Watched watched;
    (void)watched.next();
    watched.write(0, 2);
    const SteadyTime written = watched.now;

    CHECK(watched.next(2) == Verdict::everything);
    CHECK(watched.now == written + ReloadDecision::debounce + ReloadDecision::rest);
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("an event without another content is nothing") {
    Watched watched;
    (void)watched.next();
    watched.decision.on_event(watched.now);
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::poll);
}

TEST_CASE("a lost event costs one poll") {
    Watched watched;
    (void)watched.next();
    watched.files[0].hash = Hash128{0, 2};
    const SteadyTime polled = watched.decision.next_look();

    CHECK(watched.next(2) == Verdict::everything);
    CHECK(watched.now == polled + ReloadDecision::rest);
}

TEST_CASE("several events in a row are one look and one reload") {
    Watched watched;
    (void)watched.next();
    for (std::uint64_t content = 2; content < 10; ++content)
        watched.write(0, content, 10ms);
    CHECK(watched.decision.next_look() == watched.now - 70ms + ReloadDecision::debounce);
    CHECK(watched.next(3) == Verdict::everything);
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("a content that still changes is not read") {
    Watched watched;
    (void)watched.next();
    for (std::uint64_t content = 2; content < 50; ++content) {
        watched.write(0, content);
        CHECK(watched.next() == Verdict::nothing);
    }
    CHECK(watched.next() == Verdict::everything);
}

TEST_CASE("what went back to what was read is no change") {
    Watched watched;
    (void)watched.next();
    watched.write(0, 2);
    CHECK(watched.next() == Verdict::nothing);
    watched.write(0, 1);
    CHECK(watched.next(100) == Verdict::nothing);

    watched.write(0, 2); // and begins to rest anew
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.next() == Verdict::everything);
}

TEST_CASE("a failed content is not tried again, another one is, also the one in force") {
    Watched watched;
    watched.write(0, 2);
    REQUIRE(watched.next(2) == Verdict::everything);
    watched.decision.tried(watched.files, false, watched.now);
    CHECK(watched.next(100) == Verdict::nothing);

    SUBCASE("mended") {
        watched.write(0, 3);
    }
    SUBCASE("as it was before") {
        watched.write(0, 1);
    }
    SUBCASE("the certificate is mended, which the new configuration may name") {
        watched.write(1, 2);
    }
    CHECK(watched.next(10) == Verdict::everything);
}

TEST_CASE("a change while a reload reads the files causes another reload") {
    Watched watched;
    watched.write(0, 2);
    REQUIRE(watched.next(2) == Verdict::everything);
    const FileContents read = watched.files;
    watched.write(0, 3); // its event comes before tried()
    watched.decision.tried(read, true, watched.now);

    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::debounce);
    CHECK(watched.next(2) == Verdict::everything);
}

TEST_CASE("a certificate alone does not read the configuration again, and rests longer") {
    Watched watched;
    (void)watched.next();
    watched.write(1, 2);
    const SteadyTime seen = watched.decision.next_look();
    CHECK(watched.next(2) == Verdict::certificates);
    CHECK(watched.now == seen + ReloadDecision::rest_of_tls);

    watched.write(1, 3);
    watched.write(0, 3);
    CHECK(watched.next(10) == Verdict::everything);
}

TEST_CASE("a file that is gone for a moment is no change, and for long it is one") {
    Watched watched;
    (void)watched.next();
    watched.remove(0);
    const SteadyTime seen = watched.decision.next_look();
    CHECK(watched.next() == Verdict::nothing);

    SUBCASE("back as it was") {
        watched.write(0, 1, ReloadDecision::rest_of_missing - 1ms);
        CHECK(watched.next(100) == Verdict::nothing);
    }
    SUBCASE("back with another content") {
        watched.write(0, 2, 1s);
        CHECK(watched.next(2) == Verdict::everything);
    }
    SUBCASE("gone for good") {
        CHECK(watched.next() == Verdict::everything);
        CHECK(watched.now == seen + ReloadDecision::rest_of_missing);
        watched.decision.tried(watched.files, false, watched.now);
        CHECK(watched.next(100) == Verdict::nothing);
        watched.write(0, 1);
        CHECK(watched.next(2) == Verdict::everything);
    }
}
