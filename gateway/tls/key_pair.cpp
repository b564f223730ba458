#include "tls/key_pair.hpp"

#include <ctime>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace stint::tls {

namespace {

// Password callback for keys: refuses an encrypted key, instead of prompting on the terminal.
int no_password(char*, int, int, void* asked) noexcept {
    *static_cast<bool*>(asked) = true;
    return -1;
}

bool at_end_of_file() noexcept {
    const unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

Result<void, std::string> read_certificates(const std::string& file, LoadedPair& pair) {
    std::string fault;
    const BioPtr in = open_file(file, fault);
    if (!in)
        return fault;
    bool asked = false;
    pair.certificate.reset(PEM_read_bio_X509_AUX(in.get(), nullptr, &no_password, &asked));
    pair.chain.reset(sk_X509_new_null());
    if (!pair.certificate)
        return at_end_of_file() ? file + " holds no certificate in PEM"
                                : file + " holds a broken certificate: " + last_reason();
    while (X509* next = PEM_read_bio_X509(in.get(), nullptr, &no_password, &asked))
        if (sk_X509_push(pair.chain.get(), next) == 0)
            X509_free(next);
    if (!at_end_of_file())
        return file + " holds a broken certificate behind the first: " + last_reason();
    return {};
}

Result<void, std::string> read_key(const std::string& file, LoadedPair& pair) {
    std::string fault;
    const BioPtr in = open_file(file, fault);
    if (!in)
        return fault;
    bool asked = false;
    pair.key.reset(PEM_read_bio_PrivateKey(in.get(), nullptr, &no_password, &asked));
    if (pair.key)
        return {};
    if (asked)
        return file + " is protected by a password, and there is nobody to ask for it";
    return file + " holds no private key in PEM";
}

} // namespace

int LoadedPair::kind() const noexcept {
    return EVP_PKEY_get_base_id(key.get());
}

WallTime LoadedPair::expires() const noexcept {
    std::tm parts{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &parts) != 1)
        return {};
    return WallTime{std::chrono::seconds{::timegm(&parts)}};
}

bool LoadedPair::is_expired() const noexcept {
    return X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0;
}

Result<LoadedPair, std::string>
load_pair(const std::string& certificate_file, const std::string& key_file) {
    const ErrorsOf cleared;
    LoadedPair pair;
    if (auto read = read_certificates(certificate_file, pair); !read)
        return read.error();
    ERR_clear_error();
    if (auto read = read_key(key_file, pair); !read)
        return read.error();
    if (X509_check_private_key(pair.certificate.get(), pair.key.get()) != 1)
        return key_file + " is not the key of the certificate in " + certificate_file;
    return pair;
}

Result<void, std::string>
use_pair(SSL_CTX& context, const LoadedPair& pair, const std::string& certificate_file) {
    const ErrorsOf cleared;
    if (SSL_CTX_use_cert_and_key(
            &context, pair.certificate.get(), pair.key.get(), pair.chain.get(), 1) != 1)
        return certificate_file + " cannot be used: " + last_reason();
    return {};
}

} // namespace stint::tls
