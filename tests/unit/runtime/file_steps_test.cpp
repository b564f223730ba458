#include "made_certificates.hpp"
#include "runtime/watch/file_steps.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace {

using namespace stint;
namespace fs = std::filesystem;
using Steps = std::vector<runtime::FileStep>;

// A folder without links on the way to it.
struct Place {
    Place() : root{fs::canonical(folder.path(""))} {}

    std::string at(const fs::path& name) const { return (root / name).string(); }
    Steps steps_to(const fs::path& name) const { return runtime::steps_to(root / name); }

    tls::Folder folder;
    fs::path root = {};
};

} // namespace

TEST_CASE("a file is an entry of its folder") {
    const Place place;
    fs::create_directories(place.at("etc/stint"));
    place.folder.write("etc/stint/stint.yaml", "");
    const Steps steps{{place.at("etc/stint"), "stint.yaml"}};
    CHECK(place.steps_to("etc/stint/stint.yaml") == steps);
    CHECK(place.steps_to("etc/./stint/../stint/stint.yaml") == steps);
}

TEST_CASE("a mounted ConfigMap is replaced where ..data is, and where it leads") {
    const Place place;
    fs::create_directories(place.at("etc/..1"));
    place.folder.write("etc/..1/stint.yaml", "");
    fs::create_symlink("..1", place.at("etc/..data"));
    fs::create_symlink("..data/stint.yaml", place.at("etc/stint.yaml"));
    CHECK(
        place.steps_to("etc/stint.yaml") == Steps{
                                                {place.at("etc"), "stint.yaml"},
                                                {place.at("etc"), "..data"},
                                                {place.at("etc/..1"), "stint.yaml"}});
}

TEST_CASE("links to files and folders are entries where they are, and where they lead") {
    const Place place;
    fs::create_directories(place.at("srv/v1/conf"));
    fs::create_directories(place.at("etc"));
    place.folder.write("srv/v1/conf/stint.yaml", "");
    fs::create_directory_symlink(place.at("srv/v1"), place.at("etc/current"));
    CHECK(
        place.steps_to("etc/current/conf/stint.yaml") ==
        Steps{{place.at("etc"), "current"}, {place.at("srv/v1/conf"), "stint.yaml"}});
}

TEST_CASE("what is not there is an entry where it would be made") {
    const Place place;
    const std::string root = place.root.string();
    CHECK(place.steps_to("stint.yaml") == Steps{{root, "stint.yaml"}});
    CHECK(place.steps_to("etc/stint/stint.yaml") == Steps{{root, "etc"}});
    fs::create_symlink("nowhere/at/all", place.at("link"));
    CHECK(place.steps_to("link") == Steps{{root, "link"}, {root, "nowhere"}});
}

TEST_CASE("a circle of links ends") {
    const Place place;
    fs::create_symlink("b", place.at("a"));
    fs::create_symlink("a", place.at("b"));
    CHECK(place.steps_to("a").size() < 100);
}

TEST_CASE("files that are mounts of their own are found") {
    constexpr std::string_view mounts =
        "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
        "23 22 8:1 /var/stint.yaml /etc/stint/stint.yaml ro shared:1 - ext4 /dev/sda1 ro\n"
        "24 22 8:1 /a /etc/two\\040words/a\\134b.pem ro - ext4 /dev/sda1 ro\n"
        "25 22 0:5 / /etc/certificates ro - tmpfs tmpfs ro\n"
        "\n"
        "short\n";
    using Files = std::vector<std::string>;
    CHECK(
        runtime::single_file_mounts(
            mounts, {"/etc/stint/stint.yaml", "/etc/stint/stint.yaml", "/etc/two words/a\\b.pem",
                     "/etc/certificates/a.pem"}) ==
        Files{"/etc/stint/stint.yaml", "/etc/two words/a\\b.pem"});
    CHECK(runtime::single_file_mounts("", {"/etc/stint/stint.yaml"}).empty());
}
