#include "server/frame_progress.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace stint;
using server::FrameProgress;

namespace {

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum Type : char { data = 0, headers = 1, ping = 6, continuation = 9 };
constexpr char end_headers = 4;

std::string frame(Type type, int flags, std::size_t size) {
    std::string bytes{
        '\0',
        static_cast<char>(size >> 8U),
        static_cast<char>(size & 0xff),
        type,
        static_cast<char>(flags),
        '\0',
        '\0',
        '\0',
        '\1'};
    return bytes.append(size, 'x');
}

struct Progress : FrameProgress {
    explicit Progress(std::string_view bytes = preface) { add(bytes); }
    void add(std::string_view bytes) { take({bytes.data(), bytes.size()}); }
};

} // namespace

TEST_CASE("nothing is unfinished before the first byte and between two frames") {
    Progress progress{""};
    CHECK_FALSE(progress.unfinished(true));
    progress.add(preface);
    CHECK_FALSE(progress.unfinished(true));
    progress.add(frame(ping, 0, 8));
    CHECK_FALSE(progress.unfinished(true));
    progress.add(frame(ping, 0, 0));
    CHECK_FALSE(progress.unfinished(true));
    CHECK(progress.part() == 2);
}

TEST_CASE("whatever the pieces are in which bytes come, frames end where they end") {
    const std::string all = std::string{preface} + frame(ping, 0, 8) + frame(headers, 0, 300) +
                            frame(continuation, end_headers, 0) + frame(headers, end_headers, 1);
    for (std::size_t size = 1; size < all.size(); ++size) {
        Progress progress{""};
        for (std::size_t at = 0; at < all.size(); at += size)
            progress.add(std::string_view{all}.substr(at, size));
        CHECK_FALSE(progress.unfinished(true));
        CHECK(progress.part() == 3);
        CHECK(progress.size() == 10);
    }
}

TEST_CASE("a part of the preface, of a frame's head and of its payload are unfinished") {
    Progress progress{preface.substr(0, 1)};
    CHECK(progress.unfinished(false));
    CHECK(progress.size() == 1);
    progress.add(preface.substr(1));
    for (const std::size_t size : {1U, 8U, 9U, 16U}) {
        Progress frames;
        frames.add(frame(ping, 0, 8).substr(0, size));
        CHECK(frames.unfinished(false));
        CHECK(frames.part() == 1);
        CHECK(frames.size() == size);
    }
}

TEST_CASE("the payload of DATA is unfinished only if DATA are to count") {
    Progress progress;
    progress.add(frame(data, 0, 5).substr(0, 8)); // may be any frame
    CHECK(progress.unfinished(false));
    progress.add(frame(data, 0, 5).substr(8, 2));
    CHECK_FALSE(progress.unfinished(false));
    CHECK(progress.unfinished(true));
    progress.add("xxxx");
    CHECK_FALSE(progress.unfinished(true));
}

TEST_CASE("a block of fields is one part, however many frames it has") {
    Progress progress;
    progress.add(frame(headers, 0, 4));
    CHECK(progress.unfinished(false));
    progress.add(frame(continuation, 0, 4));
    progress.add(frame(continuation, end_headers, 4).substr(0, 12));
    CHECK(progress.unfinished(false));
    CHECK(progress.part() == 1);
    CHECK(progress.size() == 13 + 13 + 12);
    progress.add("x");
    CHECK_FALSE(progress.unfinished(false));
}
