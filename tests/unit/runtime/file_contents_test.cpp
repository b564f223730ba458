#include "config/load.hpp"
#include "made_certificates.hpp"
#include "runtime/watch/file_contents.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <vector>

namespace {

using namespace stint;
using runtime::FileContents;

std::vector<std::string> names_of(const FileContents& files, bool tls) {
    std::vector<std::string> names;
    for (const auto& each : files)
        if (each.tls == tls)
            names.push_back(std::filesystem::path{each.path}.filename());
    return names;
}

constexpr std::string_view names_all_kinds =
    "listeners: [{address: 127.0.0.1:1, tls: {certificate: a, key: b, client_ca: c}}]\n"
    "admin: {address: 127.0.0.1:2, token_file: t1}\n"
    "permits: {address: 127.0.0.1:3, token_file: t2}\n"
    "upstreams: {u: {endpoints: ['https://127.0.0.1:9000'], tls: {ca: c, certificate: a, key: "
    "b}}}\n"
    "stores: {s: {redis: 127.0.0.1:6379, password_file: t3, secret_file: t4}}\n"
    "routes: [{name: all, match: {path: /}, upstream: u}]\n";

} // namespace

TEST_CASE("the files that a reload reads are those that the configuration names") {
    const tls::Folder folder;
    for (const std::string_view name : {"a", "b", "c", "t1", "t2", "t3", "t4"})
        folder.write(name, "0123456789abcdef");
    const std::string file = folder.path("stint.yaml");
    using Names = std::vector<std::string>;

    const auto loaded = config::load_text(names_all_kinds, file);
    REQUIRE(loaded.has_value());
    const FileContents files = runtime::files_read_by(*loaded, file, false);
    CHECK(names_of(files, true) == Names{"a", "b", "c"});
    CHECK(names_of(files, false) == Names{"stint.yaml", "t2", "t3", "t4"});
}

TEST_CASE("files that a faulty configuration names are found, though none of them is there") {
    const tls::Folder folder;
    const std::string file = folder.path("stint.yaml");
    using Names = std::vector<std::string>;
    const config::Attempt attempt = config::attempt_to_load(names_all_kinds, file);
    REQUIRE(attempt.errors.size() == 10); // a, b and c twice, and each token
    const FileContents files = runtime::files_read_by(attempt.config, file, true);
    CHECK(names_of(files, true) == Names{"a", "b", "c"});
    CHECK(names_of(files, false) == Names{"stint.yaml", "t1", "t2", "t3", "t4"});
}

TEST_CASE("a content is told from another one, and not by its time") {
    const tls::Folder folder;
    FileContents files{{folder.write("a", "one")}};
    runtime::read_contents(files);
    const FileContents before = files;
    REQUIRE(before.front().hash);

    SUBCASE("the same in another file") {
        std::filesystem::rename(folder.write("b", "one"), folder.path("a"));
        runtime::read_contents(files);
        CHECK(files == before);
    }
    SUBCASE("another one of the same size") {
        folder.write("a", "two");
        runtime::read_contents(files);
        CHECK(files != before);
        CHECK(files.front().hash);
    }
    SUBCASE("a large one that differs at its end") {
        std::string large(17UL << 20U, 'x');
        folder.write("a", large);
        runtime::read_contents(files);
        const FileContents longer = files;
        large.back() = 'y';
        folder.write("a", large);
        runtime::read_contents(files);
        CHECK(files != longer);
    }
}

TEST_CASE("what is not there has no content, and a folder has none") {
    const tls::Folder folder;
    FileContents files{
        {folder.path("none"), false, Hash128{1, 1}}, {folder.path(""), false, Hash128{1, 1}}};
    runtime::read_contents(files);
    CHECK(std::ranges::none_of(files, [](const auto& each) { return each.hash.has_value(); }));
}

TEST_CASE("a pipe is left to its reader") {
    const tls::Folder folder;
    FileContents files{{folder.path("pipe"), false, Hash128{1, 1}}};
    REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
    runtime::read_contents(files);
    CHECK(files.front().hash == Hash128{1, 1});
}

TEST_CASE("a lack of descriptors is no change of a file, but its end is one") {
    const tls::Folder folder;
    FileContents files{{folder.write("a", "one")}, {folder.path("none"), false, Hash128{1, 1}}};
    runtime::read_contents(files);
    const FileContents before = files;
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    runtime::read_contents(files);
    const bool same = files == before;
    std::filesystem::remove(folder.path("a"));
    runtime::read_contents(files);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);

    CHECK(same);
    CHECK_FALSE(files.front().hash.has_value());
}

TEST_CASE("a configuration has the hash of the text that was read, once") {
    const tls::Folder folder;
    const std::string path = folder.path("stint.yaml");
    FileContents files{{path}};
    for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, (16U << 20U) + 1U, 20U << 20U}) {
        CAPTURE(size);
        folder.write("stint.yaml", std::string(size, '#'));
        const runtime::ReadConfig read = runtime::read_config(path, {});
        runtime::read_contents(files);
        CHECK_FALSE(read.attempt.errors.empty()); // a comment is no configuration
        CHECK(read.file == files.front());
    }
    std::filesystem::remove(path);
    CHECK_FALSE(runtime::read_config(path, {}).file.hash.has_value());
}
