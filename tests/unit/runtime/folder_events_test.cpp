#include "made_certificates.hpp"
#include "runtime/watch/folder_events.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <sys/resource.h>

namespace {

using namespace stint;
namespace fs = std::filesystem;

// Two folders, of which `a` is watched. The kernel queues an event before the call that has caused
// it returns, so nothing here waits.
struct WatchedFolders {
    WatchedFolders() {
        fs::create_directory(folder.path("a"));
        fs::create_directory(folder.path("b"));
        REQUIRE(events->watch({folder.path("a")}).empty());
    }

    bool told() {
        const int before = calls;
        control.restart();
        control.poll();
        return calls > before;
    }

    tls::Folder folder;
    boost::asio::io_context control;
    int calls = 0;
    std::unique_ptr<runtime::FolderEvents> events =
        std::make_unique<runtime::FolderEvents>(control, [this] { ++calls; });
};

} // namespace

TEST_CASE("every way to replace a file in a watched folder is told") {
    WatchedFolders watched;
    CHECK_FALSE(watched.told());

    SUBCASE("written") {
        watched.folder.write("a/file", "one");
    }
    SUBCASE("renamed") {
        watched.folder.write("b/file", "one");
        REQUIRE_FALSE(watched.told());
        fs::rename(watched.folder.path("b/file"), watched.folder.path("a/file"));
    }
    SUBCASE("a link") {
        fs::create_symlink("nowhere", watched.folder.path("a/..data"));
    }
    SUBCASE("the folder itself") {
        fs::rename(watched.folder.path("a"), watched.folder.path("c"));
    }

    CHECK(watched.told());
    CHECK_FALSE(watched.told());
}

TEST_CASE("a file that is being written is told once it is closed") {
    WatchedFolders watched;
    std::ofstream file{watched.folder.path("a/log")};
    REQUIRE(watched.told()); // that it was made
    file << "a line" << std::flush;
    CHECK_FALSE(watched.told());
    file.close();
    CHECK(watched.told());
}

TEST_CASE("only the folders of the last call are watched") {
    WatchedFolders watched;
    REQUIRE(watched.events->watch({watched.folder.path("b")}).empty());
    (void)watched.told(); // the end of a watch is an event
    watched.folder.write("a/file", "one");
    CHECK_FALSE(watched.told());
    watched.folder.write("b/file", "one");
    CHECK(watched.told());
}

TEST_CASE("a folder that is another one by now is watched by the next call") {
    WatchedFolders watched;
    fs::remove(watched.folder.path("a"));
    CHECK(watched.told());
    CHECK(watched.events->watch({watched.folder.path("a")}).size() == 1);
    fs::create_directory(watched.folder.path("a"));
    REQUIRE(watched.events->watch({watched.folder.path("a")}).empty());
    (void)watched.told();
    watched.folder.write("a/file", "one");
    CHECK(watched.told());
}

TEST_CASE("without free descriptors no folder is watched, and the reason is told") {
    const tls::Folder folder;
    boost::asio::io_context control;
    runtime::FolderEvents events{control, [] {}};
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto failed = events.watch({folder.path("")});
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);

    REQUIRE(failed.size() == 1);
    CHECK(
        failed.begin()->second ==
        "Too many open files (open files, or fs.inotify.max_user_instances)");
    CHECK(events.watch({folder.path("")}).empty());
}

TEST_CASE("nothing is told after the end") {
    WatchedFolders watched;
    watched.folder.write("a/file", "one");
    SUBCASE("stopped") {
        watched.events->stop();
    }
    SUBCASE("destroyed") {
        watched.events.reset();
    }
    CHECK_FALSE(watched.told());
}
