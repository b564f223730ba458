#include "made_certificates.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace stint::tls {

namespace {

void must(bool done, const char* what) {
    if (!done)
        throw std::runtime_error{std::string{what} + ": " + last_reason()};
}

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

KeyPtr make_key(bool rsa) {
    KeyPtr key{rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")};
    must(key != nullptr, "a key");
    return key;
}

void add_extension(X509* certificate, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    must(extension != nullptr, "an extension");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

// issuer: nullptr: itself.
Issued make(const Wish& request, const Issued* issuer) {
    static std::atomic<long> serial{1};
    Issued made{CertificatePtr{X509_new()}, make_key(request.rsa)};
    X509* certificate = made.certificate.get();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), request.begins);
    X509_gmtime_adj(X509_getm_notAfter(certificate), request.ends);
    X509_NAME_add_entry_by_txt(
        X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
        reinterpret_cast<const unsigned char*>(request.common_name.c_str()), -1, -1, 0);
    const X509* signer = issuer != nullptr ? issuer->certificate.get() : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    X509_set_pubkey(certificate, made.key.get());
    add_extension(certificate, NID_basic_constraints, request.ca ? "critical,CA:TRUE" : "CA:FALSE");
    if (request.ca)
        add_extension(certificate, NID_subject_key_identifier, "hash");
    std::string names;
    for (const std::string& name : request.names)
        names.append(names.empty() ? "" : ",").append(name);
    if (!names.empty())
        add_extension(certificate, NID_subject_alt_name, names);
    EVP_PKEY* key = issuer != nullptr ? issuer->key.get() : made.key.get();
    must(X509_sign(certificate, key, EVP_sha256()) > 0, "a signature");
    return made;
}

} // namespace

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stint-tls-XXXXXX").string();
    must(::mkdtemp(pattern.data()) != nullptr, "a folder");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string Folder::path(std::string_view name) const {
    return (path_ / name).string();
}

std::string Folder::write(std::string_view name, std::string_view text) const {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
}

std::string Issued::pem() const {
    const BioPtr out{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509(out.get(), certificate.get());
    return text_of(out.get());
}

std::string Issued::key_pem(const char* password) const {
    const BioPtr out{BIO_new(BIO_s_mem())};
    PEM_write_bio_PKCS8PrivateKey(
        out.get(), key.get(), password != nullptr ? EVP_aes_128_cbc() : nullptr, nullptr, 0,
        nullptr, const_cast<char*>(password));
    return text_of(out.get());
}

KeyPair Issued::in(const Folder& folder, const std::string& name) const {
    return {folder.write(name + ".pem", pem()), folder.write(name + ".key", key_pem()), {}};
}

Authority::Authority(const std::string& name)
    : own_{make({.common_name = name, .names = {}, .ca = true}, nullptr)} {}

Issued Authority::issue(const Wish& request) const {
    return make(request, &own_);
}

Authority Authority::intermediate(const std::string& name) const {
    return Authority{issue({.common_name = name, .names = {}, .ca = true})};
}

std::string
Authority::revocations(const std::vector<const Issued*>& revoked, long ends, bool names_key) const {
    const std::unique_ptr<X509_CRL, Freeing<&X509_CRL_free>> list{X509_CRL_new()};
    X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(own_.certificate.get()));
    const std::unique_ptr<ASN1_TIME, Freeing<&ASN1_TIME_free>> time{ASN1_TIME_new()};
    X509_gmtime_adj(time.get(), -7200);
    X509_CRL_set1_lastUpdate(list.get(), time.get());
    for (const Issued* each : revoked) {
        X509_REVOKED* entry = X509_REVOKED_new();
        X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(each->certificate.get()));
        X509_REVOKED_set_revocationDate(entry, time.get());
        X509_CRL_add0_revoked(list.get(), entry);
    }
    X509_gmtime_adj(time.get(), ends);
    X509_CRL_set1_nextUpdate(list.get(), time.get());
    if (names_key) {
        X509V3_CTX context;
        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, own_.certificate.get(), nullptr, nullptr, list.get(), 0);
        X509_EXTENSION* extension =
            X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always");
        must(extension != nullptr, "a list's extension");
        X509_CRL_add_ext(list.get(), extension, -1);
        X509_EXTENSION_free(extension);
    }
    must(X509_CRL_sign(list.get(), own_.key.get(), EVP_sha256()) > 0, "a list's signature");
    const BioPtr out{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509_CRL(out.get(), list.get());
    return text_of(out.get());
}

std::string Authority::ocsp_response(const Issued& about, long ends) const {
    const std::unique_ptr<OCSP_BASICRESP, Freeing<&OCSP_BASICRESP_free>> basic{
        OCSP_BASICRESP_new()};
    const std::unique_ptr<OCSP_CERTID, Freeing<&OCSP_CERTID_free>> id{
        OCSP_cert_to_id(nullptr, about.certificate.get(), own_.certificate.get())};
    const std::unique_ptr<ASN1_TIME, Freeing<&ASN1_TIME_free>> from{
        X509_gmtime_adj(nullptr, -7200)};
    const std::unique_ptr<ASN1_TIME, Freeing<&ASN1_TIME_free>> until{
        X509_gmtime_adj(nullptr, ends)};
    OCSP_basic_add1_status(
        basic.get(), id.get(), V_OCSP_CERTSTATUS_GOOD, 0, nullptr, from.get(), until.get());
    must(
        OCSP_basic_sign(
            basic.get(), own_.certificate.get(), own_.key.get(), EVP_sha256(), nullptr, 0) == 1,
        "an OCSP signature");
    const std::unique_ptr<OCSP_RESPONSE, Freeing<&OCSP_RESPONSE_free>> response{
        OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.get())};
    unsigned char* der = nullptr;
    const int size = i2d_OCSP_RESPONSE(response.get(), &der);
    must(size > 0, "an OCSP response");
    std::string text{reinterpret_cast<char*>(der), static_cast<std::size_t>(size)};
    OPENSSL_free(der);
    return text;
}

Issued self_signed(const Wish& request) {
    return make(request, nullptr);
}

} // namespace stint::tls
