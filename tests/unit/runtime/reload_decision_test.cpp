#include "runtime/watch/reload_decision.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <vector>

namespace {

using namespace stint;
using namespace std::chrono_literals;
using runtime::FileContents;
using runtime::FileEvent;
using runtime::ReloadDecision;
using Changed = std::vector<ReloadDecision::Changed>;
using Verdict = ReloadDecision::Verdict;

constexpr bool tls = true;
constexpr std::size_t yaml = 0, pem = 1, key = 2;

// A decision about files, in virtual time.
struct Watched {
    Watched() {
        decision.note_reload(files, true, now);
        (void)decision.look(files, now = decision.next_look());
    }

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
    // What look() says until `end`.
    Verdict until(SteadyTime end) {
        while (decision.next_look() <= end)
            if (const Verdict verdict = next(); verdict != Verdict::nothing)
                return verdict;
        now = end;
        return Verdict::nothing;
    }
    Verdict during(Duration time) { return until(now + time); }

    void happen(std::size_t file, FileEvent event) {
        decision.on_event(files[file].path, event, now);
    }
    // A writer that has closed the file, or has renamed another one.
    void write(std::size_t file, std::uint64_t content) {
        files[file].hash = Hash128{0, content};
        happen(file, FileEvent::complete);
    }
    // A writer that goes on writing.
    void begin(std::size_t file, std::uint64_t content) {
        files[file].hash = Hash128{0, content};
        happen(file, FileEvent::written);
    }
    void remove(std::size_t file) {
        files[file].hash.reset();
        happen(file, FileEvent::complete);
    }

    FileContents files{
        {"stint.yaml", !tls, Hash128{0, 1}},
        {"shop.pem", tls, Hash128{0, 1}},
        {"shop.key", tls, Hash128{0, 1}}};
    SteadyTime now{1h};
    ReloadDecision decision;
};

} // namespace

TEST_CASE("the files are looked at soon after a reload, and then as often as the poll says") {
    Watched watched;
    watched.decision.note_reload(watched.files, true, watched.now);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::debounce);
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::poll);
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("a changed content is read once") {
    Watched watched;
    watched.write(yaml, 2);
    const SteadyTime written = watched.now;

    CHECK(watched.next(2) == Verdict::everything);
    CHECK(watched.now == written + ReloadDecision::debounce + ReloadDecision::rest);
    CHECK(watched.decision.changed() == Changed{{"stint.yaml", true}});
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("an event without another content is nothing") {
    Watched watched;
    watched.happen(yaml, FileEvent::complete);
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::poll);

    watched.decision.on_event("beside", FileEvent::complete, watched.now);
    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::poll);
}

TEST_CASE("a content without an event is seen by the poll, and read once it has not changed") {
    Watched watched;
    watched.files[yaml].hash = Hash128{0, 2};
    const SteadyTime polled = watched.decision.next_look();
    CHECK(watched.next() == Verdict::nothing);
    watched.files[yaml].hash = Hash128{0, 3}; // the writer goes on

    CHECK(watched.next(3) == Verdict::everything);
    CHECK(watched.now == polled + 2 * ReloadDecision::rest_in_doubt);
    CHECK(watched.decision.changed() == Changed{{"stint.yaml", false}});
}

TEST_CASE("after a loss of events the files are looked at, and a content may be half of it") {
    Watched watched;
    watched.write(yaml, 2);
    watched.happen(yaml, FileEvent::lost);
    const SteadyTime lost = watched.now;
    CHECK(watched.next(5) == Verdict::everything);
    CHECK(watched.now == lost + ReloadDecision::debounce + ReloadDecision::rest_in_doubt);
}

TEST_CASE("a file that is being written is not read before its writer is done") {
    Watched watched;
    watched.begin(yaml, 2);
    CHECK(watched.decision.next_look() > watched.now + ReloadDecision::debounce);

    SUBCASE("closed") {
        CHECK(watched.during(29s) == Verdict::nothing);
        const SteadyTime closed = watched.now;
        watched.write(yaml, 3);
        CHECK(watched.next(2) == Verdict::everything);
        CHECK(watched.now == closed + ReloadDecision::debounce + ReloadDecision::rest);
    }
    SUBCASE("closed with the content that was seen already") {
        CHECK(watched.during(20s) == Verdict::nothing);
        watched.write(yaml, 2);
        CHECK(watched.next() == Verdict::everything);
    }
    SUBCASE("renamed over meanwhile") {
        CHECK(watched.during(20s) == Verdict::nothing);
        watched.write(yaml, 4);
        CHECK(watched.next(2) == Verdict::everything);
    }
    SUBCASE("never closed") {
        CHECK(watched.next() == Verdict::nothing);
        const SteadyTime seen = watched.now;
        CHECK(watched.next(10) == Verdict::everything);
        CHECK(watched.now == seen + ReloadDecision::rest_of_open);
    }
}

TEST_CASE("a file that is written again right after it was closed is not read") {
    Watched watched;
    watched.write(yaml, 2);
    SUBCASE("before it was looked at") {
        watched.begin(yaml, 3);
    }
    SUBCASE("after that") {
        CHECK(watched.next() == Verdict::nothing);
        watched.begin(yaml, 3);
    }
    SUBCASE("and no event tells it") {
        CHECK(watched.next() == Verdict::nothing);
        watched.files[yaml].hash = Hash128{0, 3};
    }
    CHECK(watched.during(4s) == Verdict::nothing);
}

TEST_CASE("several events in a row are one look and one reload") {
    Watched watched;
    const SteadyTime first = watched.now;
    for (std::uint64_t content = 2; content < 10; ++content) {
        watched.write(yaml, content);
        watched.now += 10ms;
    }
    CHECK(watched.decision.next_look() == first + ReloadDecision::debounce);
    CHECK(watched.next(3) == Verdict::everything);
    CHECK(watched.next(100) == Verdict::nothing);
}

TEST_CASE("what went back to what was read is no change") {
    Watched watched;
    watched.write(yaml, 2);
    CHECK(watched.next() == Verdict::nothing);
    watched.write(yaml, 1);
    CHECK(watched.next(100) == Verdict::nothing);

    watched.write(yaml, 2); // and begins to rest anew
    CHECK(watched.next() == Verdict::nothing);
    CHECK(watched.next() == Verdict::everything);
}

TEST_CASE("a failed content is not tried again, another one is, also the one in force") {
    Watched watched;
    watched.write(yaml, 2);
    REQUIRE(watched.next(2) == Verdict::everything);
    watched.decision.note_reload(watched.files, false, watched.now);
    CHECK(watched.next(100) == Verdict::nothing);

    SUBCASE("mended") {
        watched.write(yaml, 3);
    }
    SUBCASE("as it was before") {
        watched.write(yaml, 1);
    }
    SUBCASE("the certificate is mended, which the new configuration may name") {
        watched.write(pem, 2);
    }
    CHECK(watched.next(10) == Verdict::everything);
}

TEST_CASE("a change while a reload reads the files causes another reload") {
    Watched watched;
    watched.write(yaml, 2);
    REQUIRE(watched.next(2) == Verdict::everything);
    const FileContents read = watched.files;
    watched.write(yaml, 3); // its event comes before note_reload()
    watched.decision.note_reload(read, true, watched.now);

    CHECK(watched.decision.next_look() == watched.now + ReloadDecision::debounce);
    CHECK(watched.next(2) == Verdict::everything);
}

TEST_CASE("a certificate alone does not read the configuration again, and rests longer") {
    Watched watched;
    watched.write(pem, 2);
    const SteadyTime seen = watched.decision.next_look();
    CHECK(watched.next(2) == Verdict::certificates);
    CHECK(watched.now == seen + ReloadDecision::rest_of_tls);
    CHECK(watched.decision.changed() == Changed{{"shop.pem", true}});

    watched.write(pem, 3);
    watched.write(yaml, 3);
    CHECK(watched.next(10) == Verdict::everything);
    CHECK(watched.decision.changed() == Changed{{"stint.yaml", true}, {"shop.pem", true}});
}

TEST_CASE("a certificate waits for its key, and both are read together") {
    Watched watched;
    watched.write(pem, 2);
    CHECK(watched.during(1100ms) == Verdict::nothing);
    watched.write(key, 2);
    CHECK(watched.next(3) == Verdict::certificates);
    CHECK(watched.decision.changed() == Changed{{"shop.pem", true}, {"shop.key", true}});
}

TEST_CASE("a file that changes for ever holds up nothing for ever") {
    Watched watched;
    std::uint64_t content = 2;
    // Something else is written each 0.8 s. Returns the time until there is a verdict.
    const auto rewritten = [&](auto write, Verdict expected) {
        const SteadyTime begun = watched.now;
        while (watched.now < begun + 60s) {
            write(++content);
            const Verdict verdict = watched.during(800ms);
            if (verdict != Verdict::nothing) {
                CHECK(verdict == expected);
                return watched.now - begun;
            }
        }
        return Duration{60s};
    };

    SUBCASE("a certificate, and the configuration has changed") {
        watched.write(yaml, 2);
        CHECK(
            rewritten([&](auto it) { watched.write(pem, it); }, Verdict::everything) <=
            ReloadDecision::longest_wait + 1s);
    }
    SUBCASE("a certificate alone") {
        CHECK(
            rewritten([&](auto it) { watched.write(pem, it); }, Verdict::certificates) <=
            ReloadDecision::longest_wait + 1s);
    }
    SUBCASE("a certificate that is never closed, and the configuration has changed") {
        watched.write(yaml, 2);
        CHECK(
            rewritten([&](auto it) { watched.begin(pem, it); }, Verdict::everything) <=
            ReloadDecision::longest_wait + 1s);
    }
    SUBCASE("the configuration, by a writer that is not done: a certificate does not wait") {
        watched.write(pem, 2);
        CHECK(
            rewritten([&](auto it) { watched.begin(yaml, it); }, Verdict::certificates) <=
            ReloadDecision::longest_wait + 1s);
        watched.write(yaml, content); // closed without another change
        CHECK(watched.next(3) == Verdict::everything);
        CHECK(rewritten([&](auto it) { watched.begin(yaml, it); }, Verdict::nothing) == 60s);
    }
}

TEST_CASE("a configuration that is being written is read by no reload for another file") {
    Watched watched;
    watched.decision.note_reload(
        watched.files, false, watched.now); // a change of any file is a reload
    watched.write(pem, 2);
    watched.begin(yaml, 2);
    CHECK(watched.during(29s) == Verdict::nothing);
    watched.write(yaml, 3);
    CHECK(watched.next(2) == Verdict::everything);
}

TEST_CASE("a file that is gone or empty for a moment is no change, and for long it is one") {
    Watched watched;
    SUBCASE("gone") {
        watched.remove(yaml);
    }
    SUBCASE("empty") {
        watched.files[yaml].hash = runtime::content_hash("");
        watched.happen(yaml, FileEvent::complete);
    }
    const auto absent = watched.files[yaml].hash;
    const SteadyTime seen = watched.decision.next_look();
    const SteadyTime rests = seen + ReloadDecision::rest_in_doubt;

    CHECK(watched.until(rests - 1ms) == Verdict::nothing);
    const FileContents before = watched.files;
    watched.write(yaml, 1); // back as it was
    CHECK(watched.next(100) == Verdict::nothing);

    watched.files = before;
    watched.happen(yaml, FileEvent::complete);
    CHECK(watched.next() == Verdict::nothing);
    const SteadyTime again = watched.now;
    CHECK(watched.next() == Verdict::everything);
    CHECK(watched.now == again + ReloadDecision::rest_in_doubt);
    watched.decision.note_reload(watched.files, false, watched.now);
    CHECK(watched.next(100) == Verdict::nothing);
    CHECK(watched.files[yaml].hash == absent);
    watched.write(yaml, 1);
    CHECK(watched.next(2) == Verdict::everything);
}

TEST_CASE("a file that was gone for a moment is read with its new content") {
    Watched watched;
    watched.remove(yaml);
    CHECK(watched.during(1s) == Verdict::nothing);
    const SteadyTime written = watched.now;
    watched.write(yaml, 2);
    CHECK(watched.next(2) == Verdict::everything);
    CHECK(watched.now == written + ReloadDecision::debounce + ReloadDecision::rest);
}
