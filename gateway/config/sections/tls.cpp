// Reads the TLS settings of listeners and of upstreams. Contents of the TLS files are checked
// later, by runtime/tls_objects.hpp.
#include "config/fields/shared_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/file_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 2> versions{"1.2", "1.3"};
constexpr std::array<std::string_view, 2> client_certificate_words{"require", "optional"};
constexpr std::array<std::string_view, 2> unknown_names_words{"serve", "refuse"};
constexpr std::string_view a_tls = "a map such as {certificate: shop.pem, key: shop.key}";
constexpr std::size_t most_certificates = 1000;

Place place_of(const Value& value) {
    return {value.mark().line, value.mark().column};
}

Parsed<bool> parse_min_version(std::string_view text) {
    if (text == "1.2" || text == "1.3")
        return text == "1.3";
    return ParseError{in_quotes(text) + " is no version; expected 1.2 or 1.3"};
}

// Checks only the characters of a cipher list; OpenSSL reports unknown ciphers when the list is
// loaded.
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

// Makes the row of a key with the path of a file that must exist. Content: completes "the path of a
// file with ...". An empty path is not shown.
template <class S, auto M, const std::string_view& Content>
constexpr FieldOf<S> file_row(Field field) {
    field.type = {.kind = FieldType::Kind::text, .name = "path of a file"};
    return {
        field,
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_file(value, Content, loading, std::invoke(M, section));
        },
        [](const Field& row, const S& section, const Config&, Shown::Map& members) {
            const std::string& file = std::invoke(M, section);
            if (!file.empty())
                add(members, row.key, absolute_file(file));
        }};
}
constexpr std::string_view certificate_content = "a certificate";
constexpr std::string_view key_content = "a key";
constexpr std::string_view staple_content = "an OCSP response";
constexpr std::string_view authority_content = "the certificates of authorities";
constexpr std::string_view revocation_content = "a list of revocations";

constexpr Field certificate_field{
    .key = "certificate",
    .about = "A PEM file: the certificate, then its intermediate certificates, without the root.",
    .expected = "the path of a file with a certificate",
    .required = true,
    .reload = Reload::new_connections};
constexpr Field key_field{
    .key = "key",
    .about = "A PEM file with the private key, without a password.",
    .expected = "the path of a file with its key",
    .required = true,
    .reload = Reload::new_connections};
constexpr Field staple_field{
    .key = "ocsp_staple",
    .about =
        "A DER file with the authority's OCSP response for the certificate, sent to clients that "
        "ask for it.",
    .otherwise = "none",
    .reload = Reload::new_connections};

constexpr std::array certificate_table{
    file_row<Certificate, &Certificate::certificate, certificate_content>(certificate_field),
    file_row<Certificate, &Certificate::key, key_content>(key_field),
    file_row<Certificate, &Certificate::ocsp_staple, staple_content>(staple_field),
};

void read_certificate(const Section& section, LoadState& loading, Certificate& place) {
    if (const auto file = section.find("certificate"))
        place.place = place_of(*file);
    read_fields(section, certificate_fields(), place, loading);
}

void read_certificates(const Value& value, LoadState& loading, Tls& tls) {
    const auto items = value.items("a list such as [{certificate: shop.pem, key: shop.key}]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one certificate");
    if (items && items->size() > most_certificates)
        value.wrong("has more than " + std::to_string(most_certificates) + " certificates");
    for (const Value& item : items.value_or(std::vector<Value>{}))
        if (const auto section = open_section(item, certificate_fields(), a_tls))
            read_certificate(*section, loading, tls.certificates.emplace_back());
}

void read_client_certificate(const Section& section, Tls& tls) {
    using Wanted = Tls::ClientCertificate;
    const auto wanted = section.find("client_certificate");
    if (section.find("client_ca")) {
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

// Adapts a key of the entries of `certificates` for use directly in `tls`: there it is required
// only if `tls` has no `certificates`.
constexpr Field of_the_only(Field field) {
    field.required = false;
    field.otherwise = "*required*, or certificates";
    return field;
}

using TlsRow = Fields<Tls>;
constexpr std::array tls_table{
    TlsRow::other(
        of_the_only(certificate_field),
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        nullptr,
        nullptr),
    TlsRow::other(
        of_the_only(key_field),
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        nullptr,
        nullptr),
    TlsRow::other(
        staple_field, {.kind = FieldType::Kind::text, .name = "path of a file"}, nullptr, nullptr),
    TlsRow::map(
        {.key = "certificates",
         .about = "Instead of these three: a list of up to 1000 such maps, for several names.",
         .otherwise = "none",
         .reload = Reload::new_connections},
        "list of certificates",
        nullptr,
        [](const Field& field, const Tls& tls, const Config& config, Shown::Map& members) {
            Shown::List list;
            for (const Certificate& each : tls.certificates)
                list.emplace_back(shown(certificate_fields(), each, config));
            add(members, field.key, std::move(list));
        }),
    TlsRow::other(
        {.key = "min_version",
         .about = "The lowest version of TLS.",
         .expected = "1.2 or 1.3",
         .reload = Reload::new_connections},
        {.kind = FieldType::Kind::word, .words = versions},
        [](const Field& field, const Value& value, Tls& tls, LoadState&) {
            value.into(tls.only_1_3, field.expected, parse_min_version);
        },
        [](const Field& field, const Tls& tls, const Config&, Shown::Map& members) {
            add(members, field.key, versions[tls.only_1_3 ? 1 : 0]);
        }),
    TlsRow::text<&Tls::ciphers, &parse_ciphers>(
        {.key = "ciphers",
         .about = "A cipher list in OpenSSL's syntax.",
         .expected = "a list such as ECDHE+AESGCM",
         .otherwise = "ECDHE with AES-GCM or ChaCha20",
         .reload = Reload::new_connections},
        "cipher list"),
    TlsRow::other(
        {.key = "client_certificate",
         .about = "A client without a certificate is rejected, or served without a subject.",
         .expected = "require or optional",
         .otherwise = "`require` with client_ca",
         .reload = Reload::new_connections},
        {.kind = FieldType::Kind::word, .words = client_certificate_words},
        nullptr,
        [](const Field& field, const Tls& tls, const Config&, Shown::Map& members) {
            using Wanted = Tls::ClientCertificate;
            if (tls.client_certificate != Wanted::none)
                add(members, field.key,
                    field.type.words[tls.client_certificate == Wanted::require ? 0 : 1]);
        }),
    file_row<Tls, &Tls::client_ca, authority_content>(
        {.key = "client_ca",
         .about =
             "A PEM file with the authorities trusted for client certificates. Revocation lists "
             "in it are applied.",
         .otherwise = "none",
         .reload = Reload::new_connections}),
    TlsRow::word<&Tls::refuses_unknown_names>(
        {.key = "unknown_names",
         .about = "A client that asks for a name of no certificate (SNI), or for none, gets the "
                  "first certificate, or no handshake.",
         .expected = "serve or refuse",
         .reload = Reload::new_connections},
        unknown_names_words),
};

using UpstreamTlsRow = Fields<UpstreamTls>;
constexpr std::array upstream_tls_table{
    file_row<UpstreamTls, &UpstreamTls::ca, authority_content>(
        {.key = "ca",
         .about = "A PEM file with the certificates that are trusted instead: authorities, or the "
                  "server's own.",
         .otherwise = "the system's store"}),
    UpstreamTlsRow::boolean<&UpstreamTls::verify>(
        {.key = "verify", .about = "false: any certificate is accepted."}),
    file_row<UpstreamTls, &UpstreamTls::crl, revocation_content>(
        {.key = "crl", .about = "A PEM file with revocation lists.", .otherwise = "none"}),
    UpstreamTlsRow::text<&UpstreamTls::server_name, &parse_server_name>(
        {.key = "server_name",
         .about = "The name that the certificate must be for, and that is sent as SNI.",
         .expected = "a name such as shop.example",
         .otherwise = "the endpoint's host"},
        "name, or address"),
    file_row<UpstreamTls, &UpstreamTls::certificate, certificate_content>(
        {.key = "certificate",
         .about = "A PEM file with a client certificate. Needs its key.",
         .otherwise = "none"}),
    file_row<UpstreamTls, &UpstreamTls::key, key_content>(
        {.key = "key", .about = "A PEM file with its key.", .otherwise = "none"}),
};

// Reports an error if only one of certificate and key is set.
void check_own_pair(const Section& section) {
    const bool certificate = section.find("certificate").has_value();
    const bool key = section.find("key").has_value();
    if (certificate && !key)
        section.wrong_at("certificate", "needs its key: expected key, too");
    if (key && !certificate)
        section.wrong_at("key", "needs its certificate: expected certificate, too");
}

// Returns the Host value of an https endpoint, with the port unless it is 443 (RFC 9110 section
// 7.2).
std::string authority_of(const Endpoint& endpoint) {
    constexpr std::uint16_t https_port = 443;
    return endpoint.port == https_port ? endpoint.host
                                       : endpoint.host + ":" + std::to_string(endpoint.port);
}

} // namespace

Table<Tls> tls_fields() {
    return tls_table;
}

Table<Certificate> certificate_fields() {
    return certificate_table;
}

Table<UpstreamTls> upstream_tls_fields() {
    return upstream_tls_table;
}

void read_tls(const Value& value, LoadState& loading, Tls& tls) {
    tls.place = place_of(value);
    if (!value.is_map() && !value.is_scalar())
        return read_certificates(value, loading, tls);
    const auto section = open_section(value, tls_fields(), a_tls);
    if (!section)
        return;
    const auto several = section->find("certificates");
    if (several) {
        read_certificates(*several, loading, tls);
        for (const Field& each : certificate_table)
            section->wrong_at(each.key, "has no use beside certificates: put it into that list");
    } else {
        read_certificate(*section, loading, tls.certificates.emplace_back());
    }
    read_fields(*section, tls_fields(), tls, loading);
    read_client_certificate(*section, tls);
}

void read_upstream_tls(const Value& value, LoadState& loading, UpstreamTls& tls) {
    tls.place = place_of(value);
    const auto section =
        open_section(value, upstream_tls_fields(), "a map such as {ca: own-ca.pem}");
    if (!section)
        return;
    read_fields(*section, upstream_tls_fields(), tls, loading);
    check_own_pair(*section);
}

void show_upstream_tls(
    const Field& field, const Upstream& upstream, const Config& config, Shown::Map& members) {
    if (std::ranges::any_of(upstream.endpoints, &Endpoint::tls))
        add(members, field.key, shown(upstream_tls_fields(), upstream.tls, config));
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
