#include "made_certificates.hpp"
#include "runtime/watch/file_events.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace stint;
using runtime::FileEvent;
namespace fs = std::filesystem;
using Events = std::vector<FileEvent>;

// Two folders; the file `a/file` is watched. The kernel queues an event before the call that has
// caused it returns, so nothing here waits.
struct WatchedFile {
    WatchedFile() {
        fs::create_directory(folder.path("a"));
        fs::create_directory(folder.path("b"));
        watch();
    }

    void watch(const std::string& file = "a/file") {
        REQUIRE(events->watch({folder.path(file)}).empty());
    }
    // The events since the last call, the same ones in a row as one.
    Events told() {
        seen.clear();
        control.restart();
        control.poll();
        return seen;
    }

    tls::Folder folder;
    boost::asio::io_context control;
    Events seen;
    std::set<std::string> paths; // of all events
    std::unique_ptr<runtime::FileEvents> events = std::make_unique<runtime::FileEvents>(
        control, [this](const std::string& path, FileEvent event) {
            paths.insert(path);
            if (seen.empty() || seen.back() != event)
                seen.push_back(event);
        });
};

} // namespace

TEST_CASE("every way to replace a file is told, and that it is complete") {
    WatchedFile watched;
    watched.folder.write("a/file", "before");
    watched.watch();
    (void)watched.told();
    CHECK(watched.told().empty());

    SUBCASE("renamed") {
        watched.folder.write("b/file", "one");
        REQUIRE(watched.told().empty());
        fs::rename(watched.folder.path("b/file"), watched.folder.path("a/file"));
    }
    SUBCASE("another name of a file") {
        fs::remove(watched.folder.path("a/file"));
        (void)watched.told();
        watched.folder.write("b/file", "one");
        fs::create_hard_link(watched.folder.path("b/file"), watched.folder.path("a/file"));
    }
    SUBCASE("a link") {
        fs::remove(watched.folder.path("a/file"));
        (void)watched.told();
        fs::create_symlink("nowhere", watched.folder.path("a/file"));
    }
    SUBCASE("gone") {
        fs::remove(watched.folder.path("a/file"));
    }
    SUBCASE("its folder") {
        fs::rename(watched.folder.path("a"), watched.folder.path("c"));
    }

    const Events told = watched.told();
    CHECK(std::ranges::count(told, FileEvent::complete) > 0);
    CHECK(std::ranges::count(told, FileEvent::written) == 0);
    CHECK(watched.told().empty());
    CHECK(watched.paths == std::set{watched.folder.path("a/file")});
}

TEST_CASE("a file is complete once its writer has closed it") {
    WatchedFile watched;
    std::ofstream file;
    SUBCASE("a new one") {
        file.open(watched.folder.path("a/file"));
        CHECK(watched.told() == Events{FileEvent::written});
        file << "a line" << std::flush;
        watched.watch();
        (void)watched.told();
    }
    SUBCASE("one that was there, and is emptied") {
        watched.folder.write("a/file", "before");
        watched.watch();
        (void)watched.told();
        file.open(watched.folder.path("a/file"));
        CHECK(watched.told() == Events{FileEvent::written});
    }
    file << "a line" << std::flush;
    CHECK(watched.told() == Events{FileEvent::written});
    file.close();
    CHECK(watched.told() == Events{FileEvent::complete});
}

TEST_CASE("other permissions are told, as the file may be readable by now") {
    WatchedFile watched;
    watched.folder.write("a/file", "one");
    (void)watched.told();
    fs::permissions(watched.folder.path("a/file"), fs::perms::owner_read);
    CHECK(watched.told() == Events{FileEvent::touched});
}

TEST_CASE("what happens beside the file is not told") {
    WatchedFile watched;
    watched.folder.write("a/log", "a line");
    fs::rename(watched.folder.path("a/log"), watched.folder.path("a/log.1"));
    fs::create_directory(watched.folder.path("a/folder"));
    CHECK(watched.told().empty());
}

TEST_CASE("only the files of the last call are watched") {
    WatchedFile watched;
    watched.watch("b/file");
    watched.folder.write("a/file", "one");
    CHECK(watched.told().empty());
    watched.folder.write("b/file", "one");
    CHECK(watched.told() == Events{FileEvent::written, FileEvent::complete});
}

TEST_CASE("a folder that is another one by now is watched by the next call") {
    WatchedFile watched;
    fs::remove(watched.folder.path("a"));
    CHECK(watched.told().front() == FileEvent::complete);
    fs::create_directory(watched.folder.path("a"));
    watched.watch();
    (void)watched.told();
    watched.folder.write("a/file", "one");
    CHECK(watched.told().back() == FileEvent::complete);
}

TEST_CASE("a lost event is told of every file") {
    WatchedFile watched;
    std::ifstream setting{"/proc/sys/fs/inotify/max_queued_events"};
    int most = 0;
    setting >> most;
    REQUIRE(most > 0);
    watched.folder.write("a/log", "");
    for (int i = 0; i <= most / 2; ++i) {
        fs::rename(watched.folder.path("a/log"), watched.folder.path("a/log.1"));
        fs::rename(watched.folder.path("a/log.1"), watched.folder.path("a/log"));
    }
    const Events told = watched.told();
    REQUIRE_FALSE(told.empty());
    CHECK(told.back() == FileEvent::lost);
}

TEST_CASE("without free descriptors nothing is watched, and the reason is told") {
    const tls::Folder folder;
    boost::asio::io_context control;
    runtime::FileEvents events{control, [](const std::string&, FileEvent) {}};
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto failed = events.watch({folder.path("file")});
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);

    REQUIRE(failed.size() == 1);
    CHECK(
        failed.begin()->second ==
        "Too many open files (open files, or fs.inotify.max_user_instances)");
    CHECK(events.watch({folder.path("file")}).empty());
}

TEST_CASE("nothing is told after the end") {
    WatchedFile watched;
    watched.folder.write("a/file", "one");
    SUBCASE("stopped") {
        watched.events->stop();
    }
    SUBCASE("destroyed") {
        watched.events.reset();
    }
    CHECK(watched.told().empty());
}
