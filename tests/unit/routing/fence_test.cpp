#include "limits/limit.hpp"
#include "routing/fence.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <vector>

namespace {

using namespace stint;
using Fault = routing::ShownFence::Fault;

Field fence(std::string_view value) {
    return {FieldId::x_stint_fence, "X-Stint-Fence", value};
}

limits::LimitSpec mutex() {
    limits::LimitSpec spec;
    spec.identity.name = "lock:jobs";
    spec.identity.algorithm = limits::Algorithm::concurrency;
    spec.quota = 1;
    return spec;
}

struct Jobs {
    Fault shown(std::vector<Field> fields, std::string_view method = "PUT") const {
        return routing::ShownFence{method, fields}.against(lock);
    }

    limits::Limit lock{mutex()};
};

} // namespace

TEST_CASE("a write needs the number of a lock, whichever while it was never given out") {
    const Jobs jobs;

    CHECK(jobs.shown({}) == Fault::missing);
    CHECK(jobs.shown({fence("0")}) == Fault::none);
    CHECK(jobs.shown({{}, fence("17")}) == Fault::none);
}

TEST_CASE("numbers below that of the last holder are out of date") {
    Jobs jobs;
    const Field other{FieldId::other, "X-Other", "9"};
    const std::vector<Field> fields{other, fence("1763818000000001")};
    const routing::ShownFence shown{"POST", fields};
    jobs.lock.raise_fence(1'763'818'000'000'001);
    CHECK(shown.against(jobs.lock) == Fault::none);

    jobs.lock.raise_fence(1'763'818'000'000'002);

    CHECK(shown.against(jobs.lock) == Fault::outdated);
    CHECK(jobs.shown({fence("1763818000000003")}) == Fault::none);
    CHECK(jobs.shown({fence("1")}) == Fault::outdated);
}

TEST_CASE("a fencing number is there once, in digits") {
    const Jobs jobs;

    for (const char* const text :
         {"", "x", "-1", "+1", "1.0", "0x1", "1 2", "1, 2", "18446744073709551616", "\"1\""}) {
        CAPTURE(text);
        CHECK(jobs.shown({fence(text)}) == Fault::malformed);
    }
    CHECK(jobs.shown({fence("1"), fence("1")}) == Fault::malformed);
    CHECK(jobs.shown({fence("18446744073709551615")}) == Fault::none);
}

TEST_CASE("methods that only read need no number, and any other does") {
    Jobs jobs;
    jobs.lock.raise_fence(5);

    for (const char* const method : {"GET", "HEAD", "OPTIONS", "TRACE"}) {
        CAPTURE(method);
        CHECK(jobs.shown({}, method) == Fault::none);
        CHECK(jobs.shown({fence("1")}, method) == Fault::none);
    }
    for (const char* const method : {"POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get"}) {
        CAPTURE(method);
        CHECK(jobs.shown({}, method) == Fault::missing);
    }
}
