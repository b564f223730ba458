#include "log_fixtures.hpp"
#include "observe/access_log.hpp"
#include "observe/line_buffer.hpp"

#include <csignal>
#include <sys/socket.h>

using namespace stint;
using namespace stint::observe;
using namespace stint::observe::test;

namespace {

using Kind = AccessLog::Target::Kind;

// More than a worker's buffer, the writer's and a pipe's can hold together.
constexpr std::size_t flood_bytes = 4UL * 1024 * 1024;

AccessLog::Target file_target(std::string path) {
    return {Kind::file, std::move(path)};
}

AccessRecord record_of(std::string_view path) {
    AccessRecord record;
    record.path = path;
    return record;
}

// Returns how many lines were given to the log.
std::uint64_t flood(AccessLog::Channel& channel) {
    const std::string path(1000, 'x');
    std::uint64_t lines = 0;
    for (std::size_t bytes = 0; bytes < flood_bytes; bytes += path.size(), ++lines)
        channel.write(record_of(path));
    return lines;
}

// Puts another descriptor in standard output's place. Nothing may CHECK meanwhile.
class StandardOutput {
  public:
    explicit StandardOutput(int replacement) : before_{::dup(STDOUT_FILENO)} {
        ::dup2(replacement, STDOUT_FILENO);
    }
    ~StandardOutput() { ::dup2(before_.get(), STDOUT_FILENO); }
    StandardOutput(const StandardOutput&) = delete;
    StandardOutput& operator=(const StandardOutput&) = delete;

  private:
    Descriptor before_;
};

} // namespace

TEST_CASE("a line reaches the file without another to push it") {
    const TempFolder folder;
    AccessLog log{file_target(folder.file("log"))};
    AccessLog::Channel channel = log.open_channel();

    channel.write(record_of("/a"));

    CHECK(eventually([&] { return log.written() == 1; }));
    CHECK(contents(folder.file("log")).find("\"path\":\"/a\"") != std::string::npos);
}

TEST_CASE("what is written before the end is in the file") {
    const TempFolder folder;
    {
        AccessLog log{file_target(folder.file("log"))};
        AccessLog::Channel first = log.open_channel();
        AccessLog::Channel second = log.open_channel();
        for (int i = 0; i < 100; ++i) {
            first.write(record_of("/first"));
            second.write(record_of("/second"));
        }
    }

    const std::string text = contents(folder.file("log"));
    CHECK(lines_of(text).size() == 200);
    CHECK(all_json(text));
}

TEST_CASE("a stalled reader costs lines, not the worker, and what it reads later is whole") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("log"));
    const CapturedLog quiet;
    AccessLog log{file_target(folder.file("log"))};
    AccessLog::Channel channel = log.open_channel();

    const std::uint64_t given = flood(channel);

    CHECK(log.dropped() > 0);
    std::string seen;
    CHECK(eventually([&] {
        seen += read_some(reader);
        return log.written() + log.dropped() == given;
    }));
    seen += read_some(reader);
    CHECK(lines_of(seen).size() == log.written());
    CHECK(all_json(seen));
}

TEST_CASE("a log ends though its reader stalls") {
    const TempFolder folder;
    const Descriptor reader = open_reader(folder.make_fifo("log"));
    const CapturedLog quiet;
    {
        AccessLog log{file_target(folder.file("log"))};
        AccessLog::Channel channel = log.open_channel();
        flood(channel);
    }

    CHECK(all_json(read_some(reader)));
}

TEST_CASE("a standard output that nobody reads holds up neither worker nor writer") {
    const TempFolder folder;
    std::array<int, 2> ends{};
    SUBCASE("pipe") {
        REQUIRE(::pipe(ends.data()) == 0);
    }
    SUBCASE("socket") {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    }
    Descriptor reader{ends[0]};
    const Descriptor writer{ends[1]};
    const CapturedLog quiet;
    std::uint64_t dropped = 0;
    bool target_changed = false;
    {
        const StandardOutput replaced{writer.get()};
        AccessLog log{{Kind::standard_output, {}}};
        AccessLog::Channel channel = log.open_channel();
        flood(channel);
        dropped = log.dropped();
        log.set_target(file_target(folder.file("log")));
        target_changed = eventually([&] { return std::filesystem::exists(folder.file("log")); });
        reader = {};
    }

    CHECK(dropped > 0);
    CHECK(target_changed);
    // The mode belongs to everyone who has the pipe.
    CHECK((::fcntl(writer.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("lines for a pipe without a reader are counted until one comes back") {
    const TempFolder folder;
    const std::string path = folder.make_fifo("log");
    Descriptor reader = open_reader(path);
    const CapturedLog quiet;
    AccessLog log{file_target(path)};
    AccessLog::Channel channel = log.open_channel();
    channel.write(record_of("/seen"));
    REQUIRE(eventually([&] { return log.written() == 1; }));

    reader = {};
    channel.write(record_of("/lost"));
    REQUIRE(eventually([&] { return log.dropped() == 1; }));

    reader = open_reader(path);
    channel.write(record_of("/seen"));
    CHECK(eventually([&] { return log.written() == 2; }));
}

TEST_CASE("a full device is counted, and another target takes the lines from then on") {
    const TempFolder folder;
    const CapturedLog quiet;
    AccessLog log{file_target("/dev/full")};
    AccessLog::Channel channel = log.open_channel();
    channel.write(record_of("/lost"));
    REQUIRE(eventually([&] { return log.dropped() == 1; }));

    log.set_target(file_target(folder.file("log")));
    REQUIRE(eventually([&] { return std::filesystem::exists(folder.file("log")); }));
    channel.write(record_of("/kept"));

    CHECK(eventually([&] { return log.written() == 1; }));
    CHECK(lines_of(contents(folder.file("log"))).size() == 1);
}

TEST_CASE("no line is lost while the log is rotated under load") {
    constexpr std::size_t rotations = 5;
    constexpr std::size_t lines_between = 200;
    const TempFolder folder;
    const std::string path = folder.file("log");
    {
        AccessLog log{file_target(path)};
        AccessLog::Channel channel = log.open_channel();
        REQUIRE(eventually([&] { return std::filesystem::exists(path); }));
        for (std::size_t i = 0; i < rotations; ++i) {
            for (std::size_t line = 0; line < lines_between; ++line)
                channel.write(record_of("/"));
            std::filesystem::rename(path, path + "." + std::to_string(i));
            log.reopen();
            REQUIRE(eventually([&] { return std::filesystem::exists(path); }));
        }
        channel.write(record_of("/last"));
    }

    std::string rotated;
    for (std::size_t i = 0; i < rotations; ++i)
        rotated += contents(path + "." + std::to_string(i));
    CHECK(lines_of(rotated).size() == rotations * lines_between);
    CHECK(lines_of(contents(path)).size() == 1);
    CHECK(all_json(rotated + contents(path)));
}

TEST_CASE("a log that is off takes nothing and counts nothing") {
    AccessLog log{{Kind::off, {}}};
    AccessLog::Channel channel = log.open_channel();

    channel.write(record_of("/"));

    CHECK_FALSE(channel.enabled());
    CHECK(log.written() + log.dropped() == 0);
}

TEST_CASE("a log is switched off and on for channels that are open") {
    const TempFolder folder;
    AccessLog log{file_target(folder.file("log"))};
    AccessLog::Channel channel = log.open_channel();

    log.set_target({Kind::off, {}});
    CHECK_FALSE(channel.enabled());
    log.set_target(file_target(folder.file("log")));
    CHECK(channel.enabled());

    channel.write(record_of("/"));
    CHECK(eventually([&] { return log.written() == 1; }));
}

TEST_CASE("a channel's last lines are written though it is gone") {
    const TempFolder folder;
    AccessLog log{file_target(folder.file("log"))};
    {
        AccessLog::Channel channel = log.open_channel();
        channel.write(record_of("/"));
    }

    CHECK(eventually([&] { return log.written() == 1; }));
}

TEST_CASE("a buffer calls for the writer once and refuses what does not fit") {
    LineBuffer buffer;
    const std::string half(LineBuffer::urgent_size / 2, 'x');
    CHECK(buffer.add(half) == LineBuffer::Added::yes);
    CHECK(buffer.add(half) == LineBuffer::Added::urgent);
    CHECK(buffer.add(half) == LineBuffer::Added::yes);

    const std::string rest(LineBuffer::capacity - 3 * half.size(), 'x');
    CHECK(buffer.add(rest + "x") == LineBuffer::Added::no_room);
    CHECK(buffer.add(rest) == LineBuffer::Added::yes);
    CHECK(buffer.add("x") == LineBuffer::Added::no_room);

    std::string taken;
    buffer.swap(taken);
    CHECK(taken.size() == LineBuffer::capacity);
    CHECK(buffer.empty());
}
