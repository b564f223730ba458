// TLS of listeners and upstreams.
#include "config_support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stint::config {

namespace {

// Empty files: what they hold is not looked at here.
class Files {
  public:
    Files() {
        std::string pattern = (std::filesystem::temp_directory_path() / "stint-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        folder_ = pattern;
        for (const char* name : {"a.pem", "a.key", "b.pem", "b.key", "a.ocsp", "ca.pem", "crl.pem"})
            std::ofstream{folder_ / name} << "x";
    }
    ~Files() { std::filesystem::remove_all(folder_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    [[nodiscard]] std::string path(std::string_view name) const {
        return (folder_ / name).string();
    }
    [[nodiscard]] Result<Config, ConfigErrors> load(const std::string& yaml) const {
        return load_text(yaml, folder_ / "test.yaml");
    }
    [[nodiscard]] Config loaded(const std::string& yaml) const {
        auto result = load(yaml);
        if (!result)
            FAIL(text_of(result.error()));
        return *result;
    }
    // What is wrong, without the file's name.
    [[nodiscard]] std::string mistakes(const std::string& yaml) const {
        const auto result = load(yaml);
        std::string text;
        if (!result)
            for (const ConfigError& each : result.error())
                text += std::to_string(each.line) + ':' + std::to_string(each.column) + ": " +
                        each.message + '\n';
        return text;
    }
    [[nodiscard]] Tls tls(const std::string& value) const {
        const Config config = loaded(listener(value));
        REQUIRE(config.listeners.size() == 1);
        REQUIRE(config.listeners[0].tls);
        return *config.listeners[0].tls;
    }
    [[nodiscard]] std::string wrong_tls(const std::string& value) const {
        return mistakes(listener(value));
    }
    [[nodiscard]] std::string wrong_upstream(const std::string& value) const {
        return mistakes(upstream(value));
    }
    [[nodiscard]] Upstream upstream_of(const std::string& value) const {
        return loaded(upstream(value)).upstreams.at(0);
    }

  private:
    static std::string listener(const std::string& value) {
        return "routes: []\nlisteners: [{address: 1.1.1.1:1, tls: " + value + "}]\n";
    }
    static std::string upstream(const std::string& value) {
        return "routes: []\nlisteners: [{address: 1.1.1.1:1}]\nupstreams:\n  a: " + value + "\n";
    }

    std::filesystem::path folder_;
};

using Wanted = Tls::ClientCertificate;

} // namespace

TEST_CASE("a listener is plain unless it says tls") {
    CHECK_FALSE(loaded(shop).listeners[0].tls);
    CHECK_FALSE(loaded(shop).admin->tls);
}

TEST_CASE("a certificate and its key are enough, and lie beside the configuration") {
    const Files files;

    const Tls tls = files.tls("{certificate: a.pem, key: a.key}");

    REQUIRE(tls.certificates.size() == 1);
    CHECK(tls.certificates[0].certificate == files.path("a.pem"));
    CHECK(tls.certificates[0].key == files.path("a.key"));
    CHECK(tls.certificates[0].ocsp_staple.empty());
    CHECK(tls.certificates[0].place.line == 2);
    CHECK(tls.certificates[0].place.column == 53);
    CHECK_FALSE(tls.only_1_3);
    CHECK_FALSE(tls.refuses_unknown_names);
    CHECK(tls.ciphers.empty());
    CHECK(tls.client_ca.empty());
    CHECK(tls.client_certificate == Wanted::none);
}

TEST_CASE("several certificates stand in a list, alone or beside other keys") {
    const Files files;
    const std::string list =
        "[{certificate: a.pem, key: a.key, ocsp_staple: a.ocsp}, {certificate: b.pem, key: b.key}]";

    const Tls alone = files.tls(list);
    const Tls beside =
        files.tls("{min_version: 1.3, ciphers: ECDHE+AESGCM, certificates: " + list + "}");

    for (const Tls& tls : {alone, beside}) {
        REQUIRE(tls.certificates.size() == 2);
        CHECK(tls.certificates[0].ocsp_staple == files.path("a.ocsp"));
        CHECK(tls.certificates[1].certificate == files.path("b.pem"));
    }
    CHECK(beside.only_1_3);
    CHECK(beside.ciphers == "ECDHE+AESGCM");
}

TEST_CASE("with client_ca a certificate is required, unless it is optional") {
    const Files files;
    const std::string pair = "{certificate: a.pem, key: a.key, client_ca: ca.pem";

    CHECK(files.tls(pair + "}").client_ca == files.path("ca.pem"));
    CHECK(files.tls(pair + "}").client_certificate == Wanted::require);
    CHECK(files.tls(pair + ", client_certificate: require}").client_certificate == Wanted::require);
    CHECK(
        files.tls(pair + ", client_certificate: optional}").client_certificate == Wanted::optional);
}

TEST_CASE("tls:subject needs a listener that asks for certificates") {
    const Files files;
    const std::string pair = "certificate: a.pem, key: a.key";
    const std::string plain = "listeners: [{address: 1.1.1.1:1}]\n";
    const std::string no_ca = "listeners: [{address: 1.1.1.1:1, tls: {" + pair + "}}]\n";
    const std::string one_of_two = "listeners: [{address: 1.1.1.1:1}, {address: 1.1.1.1:2, tls: {" +
                                   pair + ", client_ca: ca.pem, client_certificate: optional}}]\n";
    const std::string admin_alone =
        plain + "admin: {address: 127.0.0.1:1, tls: {" + pair + ", client_ca: ca.pem}}\n";
    const std::string keyed = "routes: []\nlimits:\n  a: {concurrent: 1, key: tls:subject}\n";
    const std::string listed =
        "routes: []\nlimits:\n  a: {concurrent: 1, key: [host, tls:subject]}\n";
    const std::string why = "\"tls:subject\" needs a listener with client_ca in its tls: without "
                            "one, no client shows a certificate\n";

    CHECK(files.mistakes(keyed + plain) == "3:27: limits.a.key: " + why);
    CHECK(files.mistakes(keyed + no_ca) == "3:27: limits.a.key: " + why);
    CHECK(files.mistakes(keyed + admin_alone) == "3:27: limits.a.key: " + why);
    CHECK(files.mistakes(listed + plain) == "3:34: limits.a.key[1]: " + why);
    CHECK(files.mistakes(keyed + one_of_two).empty());
    CHECK(files.mistakes(listed + one_of_two).empty());
}

TEST_CASE("so does tls:subject wherever else keys stand") {
    const Files files;
    const auto wrong = [&](const std::string& yaml) {
        return files.mistakes("listeners: [{address: 1.1.1.1:1}]\n" + yaml);
    };
    const auto limit = [&](const std::string& text) {
        return wrong("routes: []\nlimits:\n  a: {" + text + "}\n");
    };
    const auto upstream = [&](const std::string& text) {
        return wrong("routes: []\nupstreams:\n  a: {endpoints: [1.1.1.1:1], " + text + "}\n");
    };
    const std::string why = "\"tls:subject\" needs a listener with client_ca";

    CHECK(limit("concurrent: 1, when_exceeded: wait, fair_by: tls:subject")
              .starts_with("4:52: limits.a.fair_by: " + why));
    CHECK(limit("requests: 1, per: 1m, retry_after: reserve, reserve_for: [host, tls:subject]")
              .starts_with("4:71: limits.a.reserve_for[1]: " + why));
    CHECK(upstream("balance: hash, hash_key: tls:subject")
              .starts_with("4:56: upstreams.a.hash_key: " + why));
    CHECK(upstream("cooldown: {scope: key, key: tls:subject}")
              .starts_with("4:59: upstreams.a.cooldown.key: " + why));
    CHECK(wrong("routes:\n  - {name: a, respond: {status: 204}, limits: [{concurrent: 1, key: "
                "tls:subject}]}\n")
              .starts_with("3:69: routes[0].limits[0].key: " + why));
}

TEST_CASE("the admin listener takes the same block") {
    const Files files;
    const Config config = files.loaded(
        "routes: []\nlisteners: [{address: 1.1.1.1:1}]\n"
        "admin: {address: 127.0.0.1:1, tls: {certificate: a.pem, key: a.key, min_version: 1.3}}\n");

    REQUIRE(config.admin->tls);
    CHECK(config.admin->tls->only_1_3);
}

TEST_CASE("a listener's tls that is wrong says what is expected") {
    const Files files;
    const auto wrong = [&](const std::string& value) { return files.wrong_tls(value); };
    const std::string pair = "certificate: a.pem, key: a.key";
    const std::string at = "2:39: listeners[0].tls: ";

    CHECK(wrong("on").starts_with(
        at + "found the value \"on\"; expected a map such as {certificate:"));
    CHECK(wrong("[]").starts_with(at + "is empty; expected at least one certificate"));
    CHECK(wrong("{certificate: a.pem}").starts_with(at + "key is missing"));
    CHECK(wrong("{key: a.key}").starts_with(at + "certificate is missing"));
    CHECK(
        wrong("{certificate: c.pem, key: a.key}") ==
        "2:53: listeners[0].tls.certificate: \"" + files.path("c.pem") +
            "\" does not exist; expected a file, whose path is absolute or begins in the folder of "
            "the configuration\n");
    CHECK(wrong("{certificate: ., key: a.key}").find("is not a regular file") != std::string::npos);
    CHECK(
        wrong("{" + pair + ", certificates: [{" + pair + "}]}")
            .find("has no use beside certificates: put it into that list") != std::string::npos);
    CHECK(
        wrong("{" + pair + ", min_version: 1.1}")
            .find("min_version: \"1.1\" is no version; expected 1.2 or 1.3") != std::string::npos);
    CHECK(
        wrong("{" + pair + ", ciphers: \"A B\"}").find("is no list of ciphers") !=
        std::string::npos);
    CHECK(
        wrong("{" + pair + ", client_certificate: optional}")
            .find("client_certificate: needs client_ca") != std::string::npos);
    CHECK(
        wrong("{" + pair + ", client_ca: ca.pem, client_certificate: none}").find("require") !=
        std::string::npos);
    CHECK(
        wrong("{" + pair + ", certifcates: []}").find("did you mean \"certificates\"?") !=
        std::string::npos);
}

TEST_CASE("https endpoints have port 443, and their name is the host that is sent") {
    const Files files;

    const Upstream plain = files.upstream_of("{endpoints: [https://shop.example]}");
    CHECK(plain.endpoints[0].tls);
    CHECK(plain.endpoints[0].host == "shop.example");
    CHECK(plain.endpoints[0].port == 443);
    CHECK(plain.endpoints[0].text == "https://shop.example");
    CHECK(plain.host == "shop.example");
    CHECK(plain.tls.verify);
    CHECK(plain.resolve_interval == milliseconds{30'000});

    const auto host = [&](const std::string& value) { return files.upstream_of(value).host; };
    CHECK(host("{endpoints: [https://shop.example:8443]}") == "shop.example:8443");
    CHECK(host("{endpoints: [https://shop.example, https://shop.example:8443]}") == "shop.example");
    CHECK(host("{endpoints: [https://shop.example], host: b.example}") == "b.example");
    CHECK(host("{endpoints: [https://192.0.2.1]}").empty());
    CHECK(host("{endpoints: [http://shop.example]}").empty());
    CHECK(host("{endpoints: [shop.example:443]}").empty());
    CHECK(
        host("{endpoints: [https://a.example, https://b.example], host: c.example}") ==
        "c.example");
    CHECK(
        files.wrong_upstream("{endpoints: [https://a.example, https://b.example]}")
            .find("4:18: upstreams.a.endpoints: has https endpoints of several names (a.example, "
                  "b.example); expected host") == 0);
}

TEST_CASE("an upstream's tls has its files and its name") {
    const Files files;

    const UpstreamTls tls =
        files
            .upstream_of("{endpoints: [https://shop.example], resolve_interval: 5s, tls: "
                         "{ca: ca.pem, crl: crl.pem, server_name: b.example, verify: "
                         "false, certificate: a.pem, key: a.key}}")
            .tls;

    CHECK(tls.ca == files.path("ca.pem"));
    CHECK(tls.crl == files.path("crl.pem"));
    CHECK(tls.server_name == "b.example");
    CHECK_FALSE(tls.verify);
    CHECK(tls.certificate == files.path("a.pem"));
    CHECK(tls.key == files.path("a.key"));
}

TEST_CASE("an upstream's tls that is wrong or useless says so") {
    const Files files;
    const auto wrong = [&](const std::string& tls) {
        return files.wrong_upstream("{endpoints: [https://shop.example], tls: {" + tls + "}}");
    };

    CHECK(
        files.wrong_upstream("{endpoints: [shop.example:443], tls: {verify: true}}") ==
        "4:38: upstreams.a.tls: has no use: no endpoint begins with https://\n");
    CHECK(
        files.wrong_upstream("{endpoints: [1.1.1.1:1], resolve_interval: 1s}")
            .find("has no use: no endpoint is a name") != std::string::npos);
    CHECK(
        wrong("certificate: a.pem").find("needs its key: expected key, too") != std::string::npos);
    CHECK(wrong("key: a.key").find("expected certificate, too") != std::string::npos);
    CHECK(wrong("ca: none.pem").find("does not exist") != std::string::npos);
    CHECK(wrong("server_name: \"a b\"").find("is not a name") != std::string::npos);
    CHECK(wrong("verify: no").find("verify: ") != std::string::npos);
    CHECK(wrong("certificates: []").find("did you mean \"certificate\"?") != std::string::npos);
}

} // namespace stint::config
