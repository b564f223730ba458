#include "tls/trust.hpp"

#include "tls/openssl.hpp"

#include <memory>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

namespace stint::tls {

namespace {

struct FreeingEntries {
    void operator()(STACK_OF(X509_INFO) * entries) const noexcept {
        sk_X509_INFO_pop_free(entries, X509_INFO_free);
    }
};
using Entries = std::unique_ptr<STACK_OF(X509_INFO), FreeingEntries>;

Result<Entries, std::string> read_entries(const std::string& file) {
    std::string fault;
    const BioPtr in = open_file(file, fault);
    if (!in)
        return fault;
    Entries entries{PEM_X509_INFO_read_bio(in.get(), nullptr, nullptr, nullptr)};
    if (!entries)
        return file + " cannot be read as PEM: " + last_reason();
    return entries;
}

// How many were there.
int add_revocations(X509_STORE* store, const Entries& entries) {
    int added = 0;
    for (int i = 0; i < sk_X509_INFO_num(entries.get()); ++i)
        if (X509_CRL* list = sk_X509_INFO_value(entries.get(), i)->crl)
            added += X509_STORE_add_crl(store, list);
    if (added > 0)
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return added;
}

} // namespace

Result<void, std::string> trust_file(SSL_CTX& context, const std::string& file, Names names) {
    const ErrorsOf cleared;
    const auto entries = read_entries(file);
    if (!entries)
        return entries.error();
    X509_STORE* store = SSL_CTX_get_cert_store(&context);
    int added = 0;
    for (int i = 0; i < sk_X509_INFO_num(entries->get()); ++i)
        if (X509* certificate = sk_X509_INFO_value(entries->get(), i)->x509) {
            added += X509_STORE_add_cert(store, certificate);
            if (names == Names::told)
                SSL_CTX_add_client_CA(&context, certificate);
        }
    if (added == 0)
        return file + " holds no certificate in PEM";
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    add_revocations(store, *entries);
    return {};
}

Result<void, std::string> heed_revocations(SSL_CTX& context, const std::string& file) {
    const ErrorsOf cleared;
    const auto entries = read_entries(file);
    if (!entries)
        return entries.error();
    if (add_revocations(SSL_CTX_get_cert_store(&context), *entries) == 0)
        return file + " holds no list of revocations (CRL) in PEM";
    return {};
}

int accept_without_revocations(int good, X509_STORE_CTX* verification) noexcept {
    if (good == 1 || X509_STORE_CTX_get_error(verification) != X509_V_ERR_UNABLE_TO_GET_CRL)
        return good;
    X509_STORE_CTX_set_error(verification, X509_V_OK);
    return 1;
}

} // namespace stint::tls
