// From what a configuration says of TLS to what listeners and endpoints get.
#include "made_certificates.hpp"
#include "runtime/compile.hpp"
#include "runtime/tls_objects.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using namespace stint;

struct Shop {
    tls::Folder folder;
    tls::Authority authority;
    std::shared_ptr<tls::TicketKeys> keys = std::make_shared<tls::TicketKeys>(SteadyTime{});

    Shop() {
        issue("a");
        issue("b");
        folder.write("ca.pem", authority.pem());
    }

    void issue(const std::string& name) const {
        (void)authority.issue({.names = {"DNS:" + name + ".example"}}).in(folder, name);
    }

    [[nodiscard]] std::string file() const { return folder.path("test.yaml"); }
    [[nodiscard]] config::Config config(const std::string& yaml) const {
        auto loaded = config::load_text("routes: []\n" + yaml, file());
        if (!loaded)
            throw std::runtime_error{loaded.error().front().text()};
        return *loaded;
    }
    [[nodiscard]] Result<runtime::TlsObjects, config::ConfigErrors>
    load(const std::string& yaml, const runtime::TlsObjects& former = {}) const {
        return runtime::load_tls(config(yaml), file(), former, keys);
    }
    [[nodiscard]] runtime::TlsObjects
    loaded(const std::string& yaml, const runtime::TlsObjects& former = {}) const {
        auto objects = load(yaml, former);
        if (!objects)
            throw std::runtime_error{objects.error().front().text()};
        return *objects;
    }
};

const std::string two_listeners =
    "listeners:\n"
    "  - {address: 127.0.0.1:1, tls: {certificate: a.pem, key: a.key}}\n"
    "  - {address: 127.0.0.1:2, tls: {certificate: b.pem, key: b.key}}\n"
    "  - {address: 127.0.0.1:3}\n"
    "admin: {address: 127.0.0.1:4, tls: {certificate: a.pem, key: a.key}}\n";

const std::string two_upstreams = "listeners: [{address: 127.0.0.1:1}]\n"
                                  "upstreams:\n"
                                  "  sealed: {endpoints: [https://a.example], tls: {ca: ca.pem}}\n"
                                  "  plain: {endpoints: [a.example:80]}\n";

} // namespace

TEST_CASE("listeners with the same settings share a server, plain ones have none") {
    const Shop shop;

    const runtime::TlsObjects objects = shop.loaded(two_listeners);

    REQUIRE(objects.listener("127.0.0.1:1") != nullptr);
    CHECK(objects.listener("127.0.0.1:2") != nullptr);
    CHECK(objects.listener("127.0.0.1:2") != objects.listener("127.0.0.1:1"));
    CHECK(objects.listener("127.0.0.1:3") == nullptr);
    CHECK(objects.admin == objects.listener("127.0.0.1:1"));
    CHECK(objects.expiries().size() == 2);
    CHECK(objects.files().size() == 4);
}

TEST_CASE("what has not changed stays the same object, and what has is another") {
    const Shop shop;
    const runtime::TlsObjects before = shop.loaded(two_listeners);

    const runtime::TlsObjects same = shop.loaded(two_listeners, before);
    shop.issue("b");
    const runtime::TlsObjects after = shop.loaded(two_listeners, same);

    CHECK(same.listener("127.0.0.1:1") == before.listener("127.0.0.1:1"));
    CHECK(same.listener("127.0.0.1:2") == before.listener("127.0.0.1:2"));
    CHECK(after.listener("127.0.0.1:1") == before.listener("127.0.0.1:1"));
    CHECK(after.listener("127.0.0.1:2") != before.listener("127.0.0.1:2"));
}

TEST_CASE("files have changed if their contents have, whatever their stamps say") {
    const Shop shop;
    const std::string authorities = shop.folder.path("ca.pem");
    const auto written = std::filesystem::last_write_time(authorities);
    const runtime::TlsObjects before = shop.loaded(two_upstreams);

    std::filesystem::last_write_time(authorities, written + std::chrono::hours{1});
    const runtime::TlsObjects touched = shop.loaded(two_upstreams, before);
    CHECK(touched.upstream("sealed") == before.upstream("sealed"));
    CHECK(touched.files() != before.files()); // so that CertificateWatcher sees no change any more

    std::string other = shop.authority.pem();
    other.insert(0, "# another text\n");
    shop.folder.write("ca.pem", other);
    const runtime::TlsObjects commented = shop.loaded(two_upstreams, before);
    other[2] = 'A'; // of the same size, in the same inode, and back at its time
    const auto time = std::filesystem::last_write_time(authorities);
    shop.folder.write("ca.pem", other);
    std::filesystem::last_write_time(authorities, time);
    CHECK(shop.loaded(two_upstreams, commented).upstream("sealed") != commented.upstream("sealed"));
}

TEST_CASE("an upstream's client stays while its settings and files do") {
    const Shop shop;
    const runtime::TlsObjects before = shop.loaded(two_upstreams);
    REQUIRE(before.upstream("sealed") != nullptr);
    CHECK(before.upstream("plain") == nullptr);

    CHECK(shop.loaded(two_upstreams, before).upstream("sealed") == before.upstream("sealed"));
    shop.folder.write("ca.pem", tls::Authority{"Another one"}.pem());
    CHECK(shop.loaded(two_upstreams, before).upstream("sealed") != before.upstream("sealed"));
}

TEST_CASE("a file that cannot be used is a mistake where its certificate is named") {
    const Shop shop;
    shop.folder.write("b.pem", "nothing");

    const auto objects = shop.load(two_listeners);

    REQUIRE(objects.has_error());
    REQUIRE(objects.error().size() == 1);
    CHECK(
        objects.error().front().text() ==
        shop.file() + ":4:47: " + shop.folder.path("b.pem") + " holds no certificate in PEM");
}

TEST_CASE("each mistake is reported, and ciphers at the block they stand in") {
    const Shop shop;
    shop.folder.write("b.key", "nothing");

    const auto objects = shop.load(
        "listeners:\n"
        "  - {address: 127.0.0.1:1, tls: {certificate: a.pem, key: a.key, ciphers: AES512}}\n"
        "  - {address: 127.0.0.1:2, tls: [{certificate: a.pem, key: a.key}, {certificate: b.pem, "
        "key: b.key}]}\n");

    REQUIRE(objects.has_error());
    REQUIRE(objects.error().size() == 2);
    CHECK(objects.error()[0].text() == shop.file() + ":3:33: OpenSSL has no cipher AES512");
    CHECK(
        objects.error()[1].text() ==
        shop.file() + ":4:82: " + shop.folder.path("b.key") + " holds no private key in PEM");
}

TEST_CASE("a warning is given when the certificate is read, and not again") {
    const Shop shop;
    (void)shop.authority.issue({.names = {"DNS:b.example"}, .ends = -60}).in(shop.folder, "b");

    const runtime::TlsObjects first = shop.loaded(two_listeners);
    const runtime::TlsObjects second = shop.loaded(two_listeners, first);

    REQUIRE(first.warnings.size() == 1);
    CHECK(first.warnings[0] == shop.folder.path("b.pem") + " has expired");
    CHECK(second.warnings.empty());
}

TEST_CASE("an endpoint with https gets the upstream's client and its own name, or the given one") {
    const Shop shop;
    const config::Config config = shop.config(
        "listeners: [{address: 127.0.0.1:1}]\n"
        "upstreams:\n"
        "  own: {endpoints: [https://a.example, http://a.example]}\n"
        "  given: {endpoints: [https://192.0.2.1:8443], tls: {server_name: b.example}}\n");
    const auto objects = runtime::load_tls(config, shop.file(), {}, shop.keys);
    REQUIRE(objects.has_value());
    limits::Registry registry;
    observe::MetricSlots slots;

    const auto compiled = runtime::compile(config, registry, slots, 1, {}, *objects);

    const auto& upstreams = *compiled.snapshot->upstreams;
    CHECK(upstreams[0].endpoints[0].tls == objects->upstream("own"));
    CHECK(upstreams[0].endpoints[0].server_name == "a.example");
    CHECK(upstreams[0].endpoints[1].tls == nullptr);
    CHECK(upstreams[0].host == "a.example");
    CHECK(upstreams[1].endpoints[0].tls == objects->upstream("given"));
    CHECK(upstreams[1].endpoints[0].server_name == "b.example");
}
