#include "made_certificates.hpp"
#include "runtime/file_stamps.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace {

using namespace stint;
using runtime::ChangedFiles;
using runtime::stamps_of;

} // namespace

TEST_CASE("a file that has another size, time or inode, or is gone, has another stamp") {
    const tls::Folder folder;
    const std::string file = folder.write("a.pem", "one");
    const auto before = stamps_of({file});
    REQUIRE(before.size() == 1);
    CHECK(before == stamps_of({file}));

    SUBCASE("size") {
        folder.write("a.pem", "other");
    }
    SUBCASE("time") {
        std::filesystem::last_write_time(
            file, std::filesystem::last_write_time(file) + std::chrono::seconds{1});
    }
    SUBCASE("inode, with the same size and time") {
        const std::string other = folder.write("b.pem", "two");
        std::filesystem::last_write_time(other, std::filesystem::last_write_time(file));
        std::filesystem::rename(other, file);
    }
    SUBCASE("gone") {
        std::filesystem::remove(file);
    }

    CHECK(before != stamps_of({file}));
}

TEST_CASE("a symbolic link that leads elsewhere is a change") {
    const tls::Folder folder;
    const std::string first = folder.write("1.pem", "one");
    const std::string second = folder.write("2.pem", "second");
    std::filesystem::create_symlink(first, folder.path("live.pem"));
    const auto before = stamps_of({folder.path("live.pem")});

    std::filesystem::remove(folder.path("live.pem"));
    std::filesystem::create_symlink(second, folder.path("live.pem"));

    CHECK(before != stamps_of({folder.path("live.pem")}));
}

TEST_CASE("a file without a name is none") {
    CHECK(stamps_of({"", ""}).empty());
}

TEST_CASE("a change is told once, when it has come to rest") {
    const tls::Folder folder;
    const std::string certificate = folder.write("a.pem", "one");
    const std::string key = folder.write("a.key", "one");
    ChangedFiles files;
    files.use(stamps_of({certificate, key}));
    CHECK_FALSE(files.look());

    folder.write("a.pem", "second");
    CHECK_FALSE(files.look()); // it may be being written
    folder.write("a.key", "second");
    CHECK_FALSE(files.look());
    CHECK(files.look());
    CHECK_FALSE(files.look());
}

TEST_CASE("what went back to what is in use is no change") {
    const tls::Folder folder;
    const std::string kept = folder.write("kept", "one");
    std::filesystem::create_symlink(kept, folder.path("live.pem"));
    ChangedFiles files;
    files.use(stamps_of({folder.path("live.pem")}));

    std::filesystem::rename(folder.path("live.pem"), folder.path("aside"));
    CHECK_FALSE(files.look());
    std::filesystem::rename(folder.path("aside"), folder.path("live.pem"));

    CHECK_FALSE(files.look());
    CHECK_FALSE(files.look());
}
