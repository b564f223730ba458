// TLS of listeners and of upstreams. The contents of the files are checked when they are compiled.
#include "config/sections/section_readers.hpp"
#include "config/values/addresses.hpp"
#include "config/values/file_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 8> tls_keys{
    "certificate", "key",     "ocsp_staple", "certificates",
    "min_version", "ciphers", "client_ca",   "client_certificate"};
constexpr std::array<std::string_view, 3> certificate_keys{"certificate", "key", "ocsp_staple"};
constexpr std::array<std::string_view, 6> upstream_tls_keys{"ca",     "crl",         "server_name",
                                                            "verify", "certificate", "key"};
constexpr std::array<std::string_view, 2> client_certificate_words{"require", "optional"};
constexpr std::string_view a_tls = "a map such as {certificate: shop.pem, key: shop.key}";
constexpr std::string_view a_certificate = "the path of a file with a certificate";
constexpr std::size_t most_certificates = 1000;

Place place_of(const Value& value) {
    return {value.mark().line, value.mark().column};
}

Parsed<bool> parse_min_version(std::string_view text) {
    if (text == "1.2" || text == "1.3")
        return text == "1.3";
    return ParseError{in_quotes(text) + " is no version; expected 1.2 or 1.3"};
}

// Checks characters only; OpenSSL rejects unknown ciphers when they are compiled.
Parsed<std::string> parse_ciphers(std::string_view text) {
    const bool good = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view{"-_+!@=:"}.find(c) != std::string_view::npos;
    });
    if (text.empty() || !good)
        return ParseError{
            in_quotes(text) + " is no list of ciphers; expected names with \":\" between"};
    return std::string{text};
}

Parsed<std::string> parse_server_name(std::string_view text) {
    if (is_host_name(text) || is_ipv4(text) || is_ipv6(text))
        return std::string{text};
    return ParseError{in_quotes(text) + " is not a name; expected one such as shop.example"};
}

void read_certificate(const Section& section, const LoadState& loading, Certificate& certificate) {
    if (const auto file = section.require("certificate", a_certificate)) {
        certificate.place = place_of(*file);
        read_file(*file, "a certificate", loading, certificate.certificate);
    }
    if (const auto file = section.require("key", "the path of a file with its key"))
        read_file(*file, "a key", loading, certificate.key);
    if (const auto file = section.find("ocsp_staple"))
        read_file(*file, "an OCSP response", loading, certificate.ocsp_staple);
}

void read_certificates(const Value& value, const LoadState& loading, Tls& tls) {
    const auto items = value.items("a list such as [{certificate: shop.pem, key: shop.key}]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one certificate");
    if (items && items->size() > most_certificates)
        value.wrong("has more than " + std::to_string(most_certificates) + " certificates");
    for (const Value& item : items.value_or(std::vector<Value>{}))
        if (const auto section = Section::open(item, certificate_keys, a_tls))
            read_certificate(*section, loading, tls.certificates.emplace_back());
}

void read_client_certificate(const Section& section, const LoadState& loading, Tls& tls) {
    using Wanted = Tls::ClientCertificate;
    const auto wanted = section.find("client_certificate");
    if (const auto file = section.find("client_ca")) {
        read_file(*file, "the certificates of authorities", loading, tls.client_ca);
        tls.client_certificate = Wanted::require;
    } else if (wanted) {
        section.wrong_at(
            "client_certificate", "needs client_ca: nobody else's certificates are believed");
    }
    if (!wanted)
        return;
    const auto word = wanted->as("require or optional", [](std::string_view text) {
        return parse_word(text, client_certificate_words);
    });
    if (word && *word == "optional")
        tls.client_certificate = Wanted::optional;
}

// Both, or none.
void read_own_pair(const Section& section, const LoadState& loading, UpstreamTls& tls) {
    const auto certificate = section.find("certificate");
    const auto key = section.find("key");
    if (certificate)
        read_file(*certificate, "a certificate", loading, tls.certificate);
    if (key)
        read_file(*key, "a key", loading, tls.key);
    if (certificate && !key)
        section.wrong_at("certificate", "needs its key: expected key, too");
    if (key && !certificate)
        section.wrong_at("key", "needs its certificate: expected certificate, too");
}

// Returns an endpoint's Host value, with its port where that is not the scheme's own (RFC 9110
// section 7.2).
std::string authority_of(const Endpoint& endpoint) {
    constexpr std::uint16_t https_port = 443;
    return endpoint.port == https_port ? endpoint.host
                                       : endpoint.host + ":" + std::to_string(endpoint.port);
}

} // namespace

void read_tls(const Value& value, const LoadState& loading, Tls& tls) {
    tls.place = place_of(value);
    if (!value.is_map() && !value.is_scalar())
        return read_certificates(value, loading, tls);
    const auto section = Section::open(value, tls_keys, a_tls);
    if (!section)
        return;
    const auto several = section->find("certificates");
    if (several) {
        read_certificates(*several, loading, tls);
        for (const std::string_view each : certificate_keys)
            section->wrong_at(each, "has no use beside certificates: put it into that list");
    } else {
        read_certificate(*section, loading, tls.certificates.emplace_back());
    }
    if (const auto version = section->find("min_version"))
        version->into(tls.only_1_3, "1.2 or 1.3", parse_min_version);
    if (const auto ciphers = section->find("ciphers"))
        ciphers->into(tls.ciphers, "a list such as ECDHE+AESGCM", parse_ciphers);
    read_client_certificate(*section, loading, tls);
}

void read_upstream_tls(const Value& value, const LoadState& loading, UpstreamTls& tls) {
    tls.place = place_of(value);
    const auto section = Section::open(value, upstream_tls_keys, "a map such as {ca: own-ca.pem}");
    if (!section)
        return;
    if (const auto file = section->find("ca"))
        read_file(*file, "the certificates of authorities", loading, tls.ca);
    if (const auto file = section->find("crl"))
        read_file(*file, "a list of revocations", loading, tls.crl);
    if (const auto name = section->find("server_name"))
        name->into(tls.server_name, "a name such as shop.example", parse_server_name);
    if (const auto verify = section->find("verify"))
        verify->into(tls.verify, "true or false", parse_bool);
    read_own_pair(*section, loading, tls);
}

void name_https_host(const Value& endpoints, Upstream& upstream) {
    std::set<std::string> names;
    std::set<std::string> authorities;
    for (const Endpoint& endpoint : upstream.endpoints)
        if (endpoint.tls && is_host_name(endpoint.host)) {
            names.insert(endpoint.host);
            authorities.insert(authority_of(endpoint));
        }
    if (names.size() > 1)
        endpoints.wrong(
            "has https endpoints of several names (" + *names.begin() + ", " +
            *std::next(names.begin()) + "); expected host, which says what to send as Host");
    else if (!names.empty())
        upstream.host = authorities.size() == 1 ? *authorities.begin() : *names.begin();
}

} // namespace stint::config
