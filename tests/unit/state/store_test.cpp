#include "state/store.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace stint;
using namespace stint::state;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "stint-state-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path_); }

    [[nodiscard]] fs::path file() const { return path_ / "state.db"; }
    [[nodiscard]] const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

Store opened(const fs::path& file) {
    auto store = Store::open(file);
    if (!store)
        FAIL(store.error().why);
    return std::move(*store);
}

Failure failure(const fs::path& file) {
    const auto store = Store::open(file);
    REQUIRE_FALSE(store.has_value());
    return store.error();
}

// The superuser's file system rights are given up while this exists.
class NoPrivileges {
  public:
    NoPrivileges() : former_{::setfsuid(nobody)} {}
    ~NoPrivileges() { ::setfsuid(static_cast<uid_t>(former_)); }
    NoPrivileges(const NoPrivileges&) = delete;
    NoPrivileges& operator=(const NoPrivileges&) = delete;

  private:
    static constexpr uid_t nobody = 65534;
    int former_;
};

fs::path apart(const fs::path& file) {
    return file.parent_path() / "apart#1.db";
}

// Copies an open file with its log, as a kill would leave them.
void copy_apart(const fs::path& file) {
    for (const char* const part : {"", "-wal"})
        fs::copy_file(file.string() + part, apart(file).string() + part);
}

Change put(std::string key, std::string value) {
    return {"t", std::move(key), std::move(value)};
}

std::map<std::string, std::string> read(Store& store, std::string_view table = "t") {
    auto rows = store.rows(table);
    if (!rows)
        FAIL(rows.error().why);
    std::map<std::string, std::string> all;
    for (Row& row : *rows)
        CHECK(all.emplace(std::move(row.key), std::move(row.value)).second);
    return all;
}

void write(Store& store, std::initializer_list<Change> changes) {
    if (const auto written = store.write({changes.begin(), changes.size()}); !written)
        FAIL(written.error().why);
}

std::string bytes_of(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

void replace(const fs::path& file, const std::string& bytes) {
    std::ofstream{file, std::ios::binary | std::ios::trunc} << bytes;
}

// A file with rows of several sizes, closed in order.
std::map<std::string, std::string> fill(const fs::path& file) {
    Store store = opened(file);
    std::vector<Change> changes;
    for (int i = 0; i < 200; ++i)
        changes.push_back(
            put("key " + std::to_string(i), std::string(static_cast<std::size_t>(i * 37), 'v')));
    REQUIRE(store.write(changes).has_value());
    return read(store);
}

// Runs `body` in another process; what it returns.
int elsewhere(int (*body)(const fs::path&), const fs::path& file) {
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(body(file));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("what was written is there when the file is opened again") {
    const Folder folder;
    const std::string zeros("a\0b", 3);
    {
        Store store = opened(folder.file());
        CHECK(store.fresh());
        write(store, {put("a", "1"), put(zeros, zeros), put("", ""), {"other", "a", "2"}});
        write(store, {put("a", "3"), {"t", "", std::nullopt}, {"t", "none", std::nullopt}});
    }

    Store store = opened(folder.file());

    CHECK_FALSE(store.fresh());
    CHECK(read(store) == std::map<std::string, std::string>{{"a", "3"}, {zeros, zeros}});
    CHECK(read(store, "other") == std::map<std::string, std::string>{{"a", "2"}});
    CHECK(read(store, "none").empty());
}

TEST_CASE("nobody else may read the file, whatever the umask says") {
    const Folder folder;
    const mode_t before = ::umask(0);
    {
        Store store = opened(folder.file());
        write(store, {put("a", "1")});
        for (const auto& entry : fs::directory_iterator{folder.path()})
            CHECK((fs::status(entry).permissions() & fs::perms{077}) == fs::perms::none);
        fs::permissions(folder.file(), fs::perms{0644});
    }
    const Store again = opened(folder.file());
    ::umask(before);

    CHECK(fs::status(folder.file()).permissions() == fs::perms{0600});
}

TEST_CASE("what was written survives a process that is killed") {
    const Folder folder;
    for (int round = 0; round < 3; ++round) {
        elsewhere(
            [](const fs::path& file) {
                auto store = Store::open(file);
                const std::string next = std::to_string(store->rows("t")->size());
                (void)store->write(std::array{put(next, std::string(5000, 'x'))});
                std::raise(SIGKILL);
                return 0;
            },
            folder.file());
        Store store = opened(folder.file());
        CHECK(read(store).size() == static_cast<std::size_t>(round) + 1);
    }
}

TEST_CASE("a write that fails half way changes nothing, and the next one may succeed") {
    const Folder folder;
    Store store = opened(folder.file());
    write(store, {put("a", "1")});

    std::signal(SIGXFSZ, SIG_IGN); // as runtime does
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlimit small{.rlim_cur = 100'000, .rlim_max = limit.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto full =
        store.write(std::array{put("a", "2"), put("b", std::string(10'000'000, 'x'))});
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);

    REQUIRE_FALSE(full.has_value());
    CHECK(full.error().kind == Failure::Kind::unavailable);
    CHECK(read(store) == std::map<std::string, std::string>{{"a", "1"}});
    write(store, {put("a", "3")});
    CHECK(read(store) == std::map<std::string, std::string>{{"a", "3"}});
}

TEST_CASE("a file that cannot be had now is unavailable, and why is said") {
    const Folder folder;

    SUBCASE("no folder") {
        const Failure none = failure(folder.path() / "none" / "state.db");
        CHECK(none.kind == Failure::Kind::unavailable);
        CHECK(none.why == "No such file or directory");
    }
    SUBCASE("a folder in its place") {
        fs::create_directory(folder.file());
        CHECK(failure(folder.file()).kind == Failure::Kind::unavailable);
        CHECK(failure(folder.file()).why == "it is not a regular file");
    }
    SUBCASE("a pipe in its place") {
        REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
        CHECK(failure(folder.file()).why == "it is not a regular file");
    }
    SUBCASE("another process has it") {
        const Store store = opened(folder.file());
        const int seen = elsewhere(
            [](const fs::path& file) {
                const auto other = Store::open(file);
                return !other && other.error().kind == Failure::Kind::unavailable &&
                               other.error().why == "another process has it open"
                           ? 7
                           : 8;
            },
            folder.file());
        CHECK(seen == 7);
    }
}

TEST_CASE("a file that can only be read is read, and stays as it is") {
    for (const bool killed : {false, true}) { // with a log, then in a folder that can be written
        CAPTURE(killed);
        const Folder folder;
        {
            Store store = opened(folder.file());
            REQUIRE(store.write(std::vector{put("a", "1")}).has_value());
            if (killed)
                copy_apart(folder.file());
        }
        const fs::path file = killed ? apart(folder.file()) : folder.file();
        const auto before = fs::file_size(file);
        for (const auto& each : fs::directory_iterator{folder.path()})
            fs::permissions(each.path(), fs::perms{0444});
        fs::permissions(folder.path(), fs::perms{killed ? 0777U : 0555U});
        {
            const NoPrivileges none;
            CHECK(failure(file).kind == Failure::Kind::unavailable);
            auto store = Store::open_to_read(file);
            REQUIRE(store.has_value());
            CHECK(read(*store) == std::map<std::string, std::string>{{"a", "1"}});
        }
        fs::permissions(folder.path(), fs::perms{0700});
        CHECK(fs::file_size(file) == before);
        CHECK(fs::exists(file.string() + "-wal") == killed);
    }
}

TEST_CASE("a file that can only be read is checked") {
    const Folder folder;
    CHECK(Store::open_to_read(folder.file()).error().kind == Failure::Kind::unavailable);
    CHECK_FALSE(fs::exists(folder.file()));
    std::ofstream{folder.file()} << "text";
    CHECK(Store::open_to_read(folder.file()).error().kind == Failure::Kind::broken);
}

TEST_CASE("an empty file is a new one") {
    const Folder folder;
    replace(folder.file(), "");

    CHECK(opened(folder.file()).fresh());
}

TEST_CASE("a file of another kind or version is broken, and stays as it is") {
    const Folder folder;
    const fs::path file = folder.file();

    SUBCASE("text") {
        replace(file, "listeners: []\n");
    }
    SUBCASE("as long as a page") {
        replace(file, std::string(8192, 'x'));
    }
    SUBCASE("zeros") {
        replace(file, std::string(8192, '\0'));
    }
    SUBCASE("a newer version") {
        fill(file);
        std::string bytes = bytes_of(file);
        bytes[63] = 2; // user_version, big-endian at 60
        replace(file, bytes);
        CHECK(failure(file).why == "another version of Stint has written it (form 2)");
    }
    SUBCASE("another program's database") {
        fill(file);
        std::string bytes = bytes_of(file);
        bytes[71] = 1; // application_id, at 68
        replace(file, bytes);
        CHECK(failure(file).why == "it is not a state file of Stint");
    }
    const std::string before = bytes_of(file);

    CHECK(failure(file).kind == Failure::Kind::broken);
    CHECK(bytes_of(file) == before);
}

TEST_CASE("a file that was cut is broken, wherever it was cut") {
    const Folder folder;
    fill(folder.file());
    const std::string whole = bytes_of(folder.file());
    std::mt19937_64 random{1};

    for (int i = 0; i < 200; ++i) {
        const std::size_t length = 1 + random() % (whole.size() - 1);
        CAPTURE(length);
        replace(folder.file(), whole.substr(0, length));

        const Failure cut = failure(folder.file());
        CHECK(cut.kind == Failure::Kind::broken);
        CHECK(cut.why.find('\n') == std::string::npos);
    }
}

// SQLite leaves some bytes unused, and some say the same either way.
TEST_CASE("a flipped bit is found, or changes nothing that is read") {
    const Folder folder;
    const auto rows = fill(folder.file());
    const std::string whole = bytes_of(folder.file());
    std::mt19937_64 random{2};

    int found = 0;
    for (int i = 0; i < 400; ++i) {
        const std::size_t at = random() % whole.size();
        const auto bit = static_cast<char>(1 << random() % 8);
        CAPTURE(at);
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ bit);
        replace(folder.file(), bytes);
        auto store = Store::open(folder.file());
        auto read = store ? store->rows("t") : Result<std::vector<Row>, Failure>{store.error()};
        if (!read) {
            ++found;
            CHECK(read.error().kind == Failure::Kind::broken);
            continue;
        }
        CHECK(read->size() == rows.size());
        for (const Row& row : *read)
            CHECK(rows.at(row.key) == row.value);
    }
    CHECK(found > 200);
}

// What a log cut short still holds whole is read; the rest is as if it had not been written.
TEST_CASE("a log that is torn or scribbled on gives an earlier state, whole, or is found broken") {
    const Folder folder;
    const fs::path log = folder.file().string() + "-wal";
    elsewhere(
        [](const fs::path& file) {
            auto store = Store::open(file);
            for (int i = 0; i < 20; ++i)
                (void)store->write(
                    std::array{put("a", std::to_string(i)), put("b", std::to_string(i))});
            std::raise(SIGKILL);
            return 0;
        },
        folder.file());
    const std::string file = bytes_of(folder.file());
    const std::string whole = bytes_of(log);
    REQUIRE(whole.size() > 10'000);
    std::mt19937_64 random{3};

    for (int i = 0; i < 200; ++i) {
        std::string bytes = whole;
        const std::size_t at = random() % whole.size();
        CAPTURE(at);
        if (i % 2 == 0)
            bytes.resize(at);
        else
            bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
        replace(folder.file(), file);
        replace(log, bytes);
        auto store = Store::open(folder.file());
        if (!store) {
            CHECK(store.error().kind == Failure::Kind::broken);
            continue;
        }
        const auto rows = read(*store);
        CHECK(rows.size() % 2 == 0);
        if (!rows.empty())
            CHECK(rows.at("a") == rows.at("b"));
    }
}

TEST_CASE("a file is moved aside under a name that nothing has, with its log") {
    const Folder folder;
    const WallTime time{1'700'000'000s};
    const std::string name = folder.file().string() + ".broken-20231114T221320Z";
    replace(folder.file().string() + "2.broken-20231114T221320Z", "of another one");
    CHECK_FALSE(was_moved_aside(folder.file()));
    for (const std::string& wanted : {name, name + "-2", name + "-3"}) {
        replace(folder.file(), "a");
        replace(folder.file().string() + "-wal", "b");

        const auto moved = move_aside(folder.file(), time);

        REQUIRE(moved.has_value());
        CHECK(moved->string() == wanted);
        CHECK(was_moved_aside(folder.file()));
        CHECK(bytes_of(wanted) == "a");
        CHECK(bytes_of(wanted + "-wal") == "b");
        CHECK_FALSE(fs::exists(folder.file()));
        CHECK_FALSE(fs::exists(folder.file().string() + "-wal"));
    }
    CHECK_FALSE(move_aside(folder.file(), time).has_value());
    CHECK(was_moved_aside(folder.file().string() + "/of/no/folder")); // unknown: the safe answer
}
