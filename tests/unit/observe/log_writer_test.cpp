#include "log_fixtures.hpp"
#include "observe/log_writer.hpp"

#include <csignal>
#include <cstdint>
#include <sys/resource.h>

using namespace stint;
using namespace stint::observe;
using namespace stint::observe::test;
using namespace std::chrono_literals;

namespace {

constexpr SteadyTime start{1h};

AccessLog::Target file_target(std::string path) {
    return {AccessLog::Target::Kind::file, std::move(path)};
}

// The writer as its thread drives it, in the test's own thread and time.
struct Harness {
    LogCounts counts;
    LogWriter writer{counts};
    CapturedLog log;

    Harness() { // as in the process
        std::signal(SIGPIPE, SIG_IGN);
        std::signal(SIGXFSZ, SIG_IGN);
    }
    bool write(const std::string& lines, SteadyTime now = start) {
        REQUIRE(writer.lines().empty());
        writer.lines() = lines;
        return writer.flush(now);
    }
    std::uint64_t written() const { return counts.written; }
    std::uint64_t dropped() const { return counts.dropped; }
};

// A file system that is full from `size` bytes on, as far as this process can see.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t size) {
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
        rlimit limit = before_;
        limit.rlim_cur = size;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    rlimit before_{};
};

std::string big_line(char letter) {
    return std::string(200'000, letter) + "\n";
}

} // namespace

TEST_CASE("lines are appended to what the file already holds") {
    const TempFolder folder;
    std::ofstream{folder.file("log")} << "old\n";
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);

    CHECK(harness.write("one\ntwo\n"));

    CHECK(contents(folder.file("log")) == "old\none\ntwo\n");
    CHECK(harness.written() == 2);
}

TEST_CASE("half a line that an earlier run left is ended first") {
    const TempFolder folder;
    std::ofstream{folder.file("log")} << "{\"tor";
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);

    CHECK(harness.write("one\n"));

    CHECK(contents(folder.file("log")) == "{\"tor\none\n");
}

TEST_CASE("a device that is full costs the lines, and is reported once") {
    Harness harness;
    harness.writer.set_target(file_target("/dev/full"), start);

    for (int i = 0; i < 5; ++i)
        CHECK(harness.write("one\ntwo\n", start + i * 50ms));

    CHECK(harness.written() == 0);
    CHECK(harness.dropped() == 10);
    CHECK(harness.log.count("No space left on device") == 1);
}

TEST_CASE("after a full disk the torn line is ended and later lines are whole") {
    const TempFolder folder;
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);
    {
        const FileSizeLimit full{10};
        CHECK(harness.write("one\ntwo-is-torn\nthree\n"));
    }

    CHECK(harness.write("four\n", start + 100ms));

    CHECK(contents(folder.file("log")) == "one\ntwo-is\nfour\n");
    CHECK(harness.written() == 2);
    CHECK(harness.dropped() == 2);
}

TEST_CASE("trouble that comes and goes within a second is one trouble") {
    const TempFolder folder;
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);
    for (int i = 0; i < 3; ++i) {
        {
            const FileSizeLimit full{0};
            CHECK(harness.write("lost\n", start + i * 100ms));
        }
        CHECK(harness.write("kept\n", start + i * 100ms + 50ms));
    }

    CHECK(harness.write("kept\n", start + 3s));

    CHECK(harness.log.count("cannot write") == 1);
    CHECK(harness.log.count("is written to again; 3 lines dropped") == 1);
}

TEST_CASE("a pipe that takes no more keeps the rest for later") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("log"));
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);
    const std::string lines = "one\n" + big_line('a') + "end\n";

    CHECK_FALSE(harness.write(lines));
    std::string seen = read_some(reader);
    while (!harness.writer.flush(start))
        seen += read_some(reader);
    seen += read_some(reader);

    CHECK(seen == lines);
    CHECK(harness.written() == 3);
    CHECK(harness.dropped() == 0);
}

TEST_CASE("lines that fit into a pipe's atomic write are never split between two") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("log"));
    Result<LogFile> file = LogFile::open(file_target(folder.file("log")));
    REQUIRE(file.has_value());
    const std::string line = std::string(1500, 'x') + "\n";

    const LogFile::Written written = file->write_some(line + line + line);

    CHECK(written.bytes == 2 * line.size());
}

TEST_CASE("a reader that stalls for a second is reported, once") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("log"));
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);
    CHECK_FALSE(harness.write(big_line('a')));
    CHECK_FALSE(harness.writer.flush(start + 900ms));
    CHECK(harness.log.count("does not keep up") == 0);

    CHECK_FALSE(harness.writer.flush(start + 1s));
    CHECK_FALSE(harness.writer.flush(start + 2s));

    CHECK(harness.log.count("does not keep up") == 1);
}

TEST_CASE("a reader that comes back after the pipe broke finds whole lines") {
    const TempFolder folder;
    const std::string path = folder.make_fifo("log");
    Descriptor reader = open_reader(path);
    Harness harness;
    harness.writer.set_target(file_target(path), start);
    CHECK_FALSE(harness.write(big_line('a') + "b\n"));
    CHECK(read_some(reader).size() < big_line('a').size());
    reader = {};

    CHECK(harness.writer.flush(start)); // gives both lines up
    CHECK(harness.dropped() == 2);

    reader = open_reader(path);
    CHECK(harness.write("c\nd\n"));
    CHECK(read_some(reader) == "\nc\nd\n");
    CHECK(harness.written() == 2);
}

TEST_CASE("a line that is half written when the target changes is whole in the new one") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("stalled"));
    Harness harness;
    harness.writer.set_target(file_target(folder.file("stalled")), start);
    const std::string line = big_line('a');
    CHECK_FALSE(harness.write("one\n" + line));

    harness.writer.set_target(file_target(folder.file("log")), start);

    CHECK(harness.writer.flush(start));
    CHECK(contents(folder.file("log")) == line);
    CHECK(harness.written() == 2);
}

TEST_CASE("a file that cannot be opened is reported once and tried every second") {
    const TempFolder folder;
    Harness harness;
    harness.writer.set_target(file_target(folder.file("missing/log")), start);
    CHECK(harness.write("lost\n"));
    harness.writer.tick(start + 1s);
    CHECK(harness.log.count("cannot open") == 1);
    CHECK(harness.writer.next_tick() == start + 2s);

    std::filesystem::create_directory(folder.file("missing"));
    harness.writer.tick(start + 1999ms);
    CHECK_FALSE(harness.writer.is_open());
    harness.writer.tick(start + 2s);

    CHECK(harness.write("kept\n"));
    CHECK(contents(folder.file("missing/log")) == "kept\n");
    CHECK(harness.dropped() == 1);
    CHECK_FALSE(harness.writer.next_tick().has_value());
}

TEST_CASE("a new target that cannot be opened leaves the old one in use") {
    const TempFolder folder;
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);

    harness.writer.set_target(file_target(folder.file("missing/log")), start);

    CHECK(harness.write("one\n"));
    CHECK(contents(folder.file("log")) == "one\n");
}

TEST_CASE("a reopened log goes on in a new file at its path") {
    const TempFolder folder;
    Harness harness;
    harness.writer.set_target(file_target(folder.file("log")), start);
    CHECK(harness.write("one\n"));
    std::filesystem::rename(folder.file("log"), folder.file("log.1"));
    CHECK(harness.write("two\n"));

    harness.writer.reopen(start);

    CHECK(harness.write("three\n"));
    CHECK(contents(folder.file("log.1")) == "one\ntwo\n");
    CHECK(contents(folder.file("log")) == "three\n");
}
