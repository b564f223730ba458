// An intermediate authority that is believed as it stands, and what its own authority's lists of
// revocations (CRL) say of it where there are several of them.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace stint::tls {

namespace {

using ListPtr = std::unique_ptr<X509_CRL, Freeing<&X509_CRL_free>>;

constexpr long over = -60;
constexpr long current = 3600;
constexpr bool with_key = true; // the list names the key that has signed it

// The list after `change`, signed once more.
template <class Change>
std::string changed(const std::string& list, const Authority& signer, const Change& change) {
    const BioPtr in{BIO_new_mem_buf(list.data(), static_cast<int>(list.size()))};
    const ListPtr made{PEM_read_bio_X509_CRL(in.get(), nullptr, nullptr, nullptr)};
    REQUIRE(made != nullptr);
    change(made.get());
    REQUIRE(X509_CRL_sign(made.get(), signer.own().key.get(), EVP_sha256()) > 0);
    const BioPtr out{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509_CRL(out.get(), made.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

void begin_tomorrow(X509_CRL* list) {
    const std::unique_ptr<ASN1_TIME, Freeing<&ASN1_TIME_free>> day{
        X509_gmtime_adj(nullptr, 24 * 3600)};
    X509_CRL_set1_lastUpdate(list, day.get());
    X509_gmtime_adj(day.get(), 48 * 3600);
    X509_CRL_set1_nextUpdate(list, day.get());
}

// scope: as openssl's configuration has it.
auto limiting_it_to(const std::string& scope) {
    return [scope](X509_CRL* list) {
        X509_EXTENSION* extension =
            X509V3_EXT_conf_nid(nullptr, nullptr, NID_issuing_distribution_point, scope.c_str());
        REQUIRE(extension != nullptr);
        X509_CRL_add_ext(list, extension, -1);
        X509_EXTENSION_free(extension);
    };
}

struct World {
    Folder folder;
    Authority root;
    Authority middle = root.intermediate("Middle");
    std::string own_list = middle.revocations({});

    // What a client says of a server of `middle` that knows these lists of the root, and these
    // certificates beside that of `middle`.
    [[nodiscard]] std::string
    meet(const std::string& lists, const std::string& certificates = {}) const {
        const Issued shop = middle.issue({.names = {"DNS:shop.example"}});
        const auto server = tls::server(
            {.certificates = {shop.in(folder, "shop")}, .ciphers = {}, .client_ca = {}});
        const auto client = tls::client(
            {.ca = folder.write("ca.pem", certificates + middle.pem()),
             .crl = folder.write("crl.pem", own_list + lists),
             .certificate = {},
             .key = {}});
        const Handshake both = shake(client->connect("shop.example"), server->accept());
        return both.done ? "believed" : both.client_reason;
    }

    template <class Check>
    void with_and_without_root(const Check& check) const {
        for (const std::string& known : {std::string{}, root.pem()}) {
            CAPTURE(known.empty());
            check(known);
        }
    }
};

const std::string expired = "the list of revoked certificates (CRL) has expired";
const std::string revoked = "its certificate was revoked";

} // namespace

TEST_CASE("an outdated list of revocations says nothing where there is a current one") {
    const World world;
    world.with_and_without_root([&](const std::string& known) {
        for (const bool former_names_key : {false, true})
            for (const bool names_key : {false, true}) {
                CAPTURE(former_names_key);
                CAPTURE(names_key);
                const std::string former = world.root.revocations({}, over, former_names_key);
                const std::string now = world.root.revocations({}, current, names_key);
                const std::string next =
                    changed(former, world.root, [](X509_CRL* list) { begin_tomorrow(list); });
                CHECK(world.meet(former + now, known) == "believed");
                CHECK(world.meet(now + former, known) == "believed");
                CHECK(world.meet(now + next, known) == "believed");
                CHECK(world.meet(former, known) == expired);
                CHECK(
                    world.meet(next, known) ==
                    "the list of revoked certificates (CRL) is not valid yet");
                CHECK_FALSE(world.meet(former + next, known) == "believed");
            }
    });
}

TEST_CASE("an authority that any of its own authority's lists names is not believed") {
    const World world;
    world.with_and_without_root([&](const std::string& known) {
        for (const bool names_key : {false, true}) {
            CAPTURE(names_key);
            const auto list = [&](const std::vector<const Issued*>& named, long ends) {
                return world.root.revocations(named, ends, names_key);
            };
            const std::string former = list({&world.middle.own()}, over);
            CHECK(world.meet(former + list({}, current), known) == revoked);
            CHECK(world.meet(list({}, current) + former, known) == revoked);
            CHECK(
                world.meet(list({}, over) + list({&world.middle.own()}, current), known) ==
                revoked);
        }
    });
}

TEST_CASE("a list that its authority has not signed says nothing where there is one that it has") {
    const World world;
    const Authority stranger; // of the same name
    const std::string forged = stranger.revocations({});
    const std::string good = world.root.revocations({});

    CHECK(world.meet(forged + good, world.root.pem()) == "believed");
    CHECK(world.meet(good + forged, world.root.pem()) == "believed");
    CHECK(world.meet(forged + world.root.revocations({}, over), world.root.pem()) != "believed");
}

TEST_CASE("a current list of a part does not stand in for the outdated one of all") {
    const World world;
    const std::string former = world.root.revocations({}, over, with_key);
    const auto of_part = [&](long ends, const std::string& scope) {
        return changed(
            world.root.revocations({}, ends, with_key), world.root, limiting_it_to(scope));
    };

    CHECK(world.meet(former + of_part(current, "onlyuser:TRUE"), world.root.pem()) == expired);
    const std::string part = "onlyCA:TRUE";
    CHECK(world.meet(of_part(over, part), world.root.pem()) == expired);
    CHECK(world.meet(of_part(over, part) + of_part(current, part), world.root.pem()) == "believed");
}

TEST_CASE("the lists of each authority of the issuer's name are heeded, whichever is found first") {
    const World world;
    const Authority other; // of the same name
    for (const std::string& roots :
         {world.root.pem() + other.pem(), other.pem() + world.root.pem()})
        for (const bool names_key : {false, true}) {
            CAPTURE(roots == world.root.pem() + other.pem());
            CAPTURE(names_key);
            const auto list = [&](const Authority& of, bool names_it) {
                return of.revocations(
                    names_it ? std::vector<const Issued*>{&world.middle.own()}
                             : std::vector<const Issued*>{},
                    current, names_key);
            };
            CHECK(world.meet(list(world.root, true), roots) == revoked);
            CHECK(world.meet(list(other, false) + list(world.root, true), roots) == revoked);
            CHECK(world.meet(list(other, false) + list(world.root, false), roots) == "believed");
        }
}

TEST_CASE("a list of an authority that is not known itself is heeded beside another of its name") {
    const World world;
    const Authority other; // of the same name
    for (const bool names_key : {false, true}) {
        CAPTURE(names_key);
        CHECK(
            world.meet(
                world.root.revocations({&world.middle.own()}, current, names_key), other.pem()) ==
            revoked);
    }
}

TEST_CASE("an outdated list of a root says nothing of its certificates beside a current one") {
    const World world;
    const Issued shop = world.root.issue({.names = {"DNS:shop.example"}});
    const auto server = tls::server(
        {.certificates = {shop.in(world.folder, "shop")}, .ciphers = {}, .client_ca = {}});
    const auto client = tls::client(
        {.ca = world.folder.write(
             "ca.pem", world.root.pem() + world.root.revocations({}, over) +
                           world.root.revocations({}, current)),
         .crl = {},
         .certificate = {},
         .key = {}});

    CHECK(shake(client->connect("shop.example"), server->accept()).done);
}

} // namespace stint::tls
