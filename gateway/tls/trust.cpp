#include "tls/trust.hpp"

#include "tls/openssl.hpp"

#include <memory>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <optional>

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

// Adds the CRLs to the store and returns their number.
int add_revocations(X509_STORE* store, const Entries& entries) {
    int added = 0;
    for (int i = 0; i < sk_X509_INFO_num(entries.get()); ++i)
        if (X509_CRL* list = sk_X509_INFO_value(entries.get(), i)->crl)
            added += X509_STORE_add_crl(store, list);
    if (added > 0)
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return added;
}

struct FreeingLists {
    void operator()(STACK_OF(X509_CRL) * lists) const noexcept {
        sk_X509_CRL_pop_free(lists, X509_CRL_free);
    }
};
using Lists = std::unique_ptr<STACK_OF(X509_CRL), FreeingLists>;
using KeyIdPtr = std::unique_ptr<AUTHORITY_KEYID, Freeing<&AUTHORITY_KEYID_free>>;

// Returns the certificate being verified if it is a trust anchor but not a root: the last of its
// chain, although it is not self-issued (X509_V_FLAG_PARTIAL_CHAIN). Else returns nullptr.
X509* anchor_of(X509_STORE_CTX* verification) noexcept {
    STACK_OF(X509)* const chain = X509_STORE_CTX_get0_chain(verification);
    const int depth = X509_STORE_CTX_get_error_depth(verification);
    X509* const last = sk_X509_num(chain) == depth + 1 ? sk_X509_value(chain, depth) : nullptr;
    return last != nullptr && (X509_get_extension_flags(last) & EXFLAG_SI) == 0 ? last : nullptr;
}

// Returns all certificates in the store with the name of `certificate`'s issuer, because several
// issuers may have the same name; nullptr if none of them has signed `certificate`.
ChainPtr issuers_of(X509_STORE_CTX* verification, X509* certificate) noexcept {
    ChainPtr same_name{X509_STORE_CTX_get1_certs(verification, X509_get_issuer_name(certificate))};
    for (int i = 0; same_name && i < sk_X509_num(same_name.get()); ++i)
        if (X509_verify(certificate, X509_get0_pubkey(sk_X509_value(same_name.get(), i))) > 0)
            return same_name;
    return nullptr;
}

bool is_key_of(X509* issuer, const AUTHORITY_KEYID* key) noexcept {
    X509_check_purpose(issuer, -1, 0); // parses the extensions, which X509_check_akid() needs
    return X509_check_akid(issuer, key) == X509_V_OK;
}

enum class Signer { issuer, another_key, nobody };

// Determines whether one of the issuers has signed the CRL. issuers: nullptr if they are unknown.
// In that case the CRL is accepted unverified, because it comes from a configured file.
Signer signer_of(X509_CRL* list, const ChainPtr& issuers) noexcept {
    if (!issuers)
        return Signer::issuer;
    const KeyIdPtr key{static_cast<AUTHORITY_KEYID*>(
        X509_CRL_get_ext_d2i(list, NID_authority_key_identifier, nullptr, nullptr))};
    Signer signer = Signer::another_key;
    for (int i = 0; i < sk_X509_num(issuers.get()); ++i) {
        X509* const issuer = sk_X509_value(issuers.get(), i);
        if (key && !is_key_of(issuer, key.get()))
            continue;
        if (X509_CRL_verify(list, X509_get0_pubkey(issuer)) > 0)
            return Signer::issuer;
        signer = Signer::nobody;
    }
    return signer;
}

// Returns the X509_V_* result of checking the certificate against a CRL; nullopt if another key of
// the same issuer name has signed the CRL.
std::optional<int> verdict_of(X509_CRL* list, X509* certificate, const ChainPtr& issuers) noexcept {
    const Signer signer = signer_of(list, issuers);
    if (signer == Signer::another_key)
        return std::nullopt;
    if (signer == Signer::nobody)
        return X509_V_ERR_CRL_SIGNATURE_FAILURE;
    X509_REVOKED* entry = nullptr;
    if (X509_CRL_get0_by_cert(list, &entry, certificate) == 1)
        return X509_V_ERR_CERT_REVOKED; // even if the CRL is out of date
    if (X509_cmp_current_time(X509_CRL_get0_lastUpdate(list)) > 0)
        return X509_V_ERR_CRL_NOT_YET_VALID;
    const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(list);
    return next != nullptr && X509_cmp_current_time(next) < 0 ? X509_V_ERR_CRL_HAS_EXPIRED
                                                              : X509_V_OK;
}

const ASN1_OCTET_STRING* extension_of(X509_CRL* list, int kind) noexcept {
    const int at = X509_CRL_get_ext_by_NID(list, kind, -1);
    return at < 0 ? nullptr : X509_EXTENSION_get_data(X509_CRL_get_ext(list, at));
}

// Returns true if both CRLs have the same scope. A CRL may cover only a part of the certificates,
// or only the changes since another CRL (RFC 5280 sections 5.2.5 and 5.2.4).
bool have_one_scope(X509_CRL* list, X509_CRL* other) noexcept {
    for (const int kind : {NID_issuing_distribution_point, NID_delta_crl}) {
        const ASN1_OCTET_STRING* const of_list = extension_of(list, kind);
        const ASN1_OCTET_STRING* const of_other = extension_of(other, kind);
        if ((of_list == nullptr) != (of_other == nullptr) ||
            (of_list != nullptr && ASN1_OCTET_STRING_cmp(of_list, of_other) != 0))
            return false;
    }
    return true;
}

// Checks a trust anchor that is not a root against the CRLs of its issuer; returns an X509_V_*
// result. OpenSSL's own check is wrong here, because it takes the anchor for its own issuer. A
// revocation in any CRL counts. Other faults, such as an expired CRL, are ignored if another CRL of
// the same scope is valid.
int fault_of_anchor(X509_STORE_CTX* verification, X509* anchor) noexcept {
    const ChainPtr issuers = issuers_of(verification, anchor);
    const Lists lists{X509_STORE_CTX_get1_crls(verification, X509_get_issuer_name(anchor))};
    const int count = lists ? sk_X509_CRL_num(lists.get()) : 0;
    const auto list = [&](int i) { return sk_X509_CRL_value(lists.get(), i); };
    const auto verdict = [&](int i) { return verdict_of(list(i), anchor, issuers); };
    const auto has_good_one_beside_it = [&](int i) {
        for (int other = 0; other < count; ++other)
            if (have_one_scope(list(i), list(other)) && verdict(other) == X509_V_OK)
                return true;
        return false;
    };
    int fault = X509_V_OK;
    for (int i = 0; i < count; ++i) {
        const int found = verdict(i).value_or(X509_V_OK);
        if (found == X509_V_ERR_CERT_REVOKED)
            return found;
        if (found != X509_V_OK && !has_good_one_beside_it(i))
            fault = found;
    }
    return fault;
}

// Returns true if OpenSSL found no CRL of the issuer, or could not verify the CRL by the issuer's
// certificate.
bool is_about_issuer(int error) noexcept {
    return error == X509_V_ERR_UNABLE_TO_GET_CRL || error == X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER ||
           error == X509_V_ERR_KEYUSAGE_NO_CRL_SIGN || error == X509_V_ERR_CRL_SIGNATURE_FAILURE;
}

// Returns true if the CRL that OpenSSL has chosen is expired or not yet valid. For a trust anchor
// OpenSSL may not have chosen the best CRL.
bool is_about_time(int error) noexcept {
    return error == X509_V_ERR_CRL_HAS_EXPIRED || error == X509_V_ERR_CRL_NOT_YET_VALID;
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
    const int error = X509_STORE_CTX_get_error(verification);
    if (good == 1 || !(is_about_issuer(error) || is_about_time(error)))
        return good;
    int fault = error == X509_V_ERR_UNABLE_TO_GET_CRL ? X509_V_OK : error;
    if (X509* const anchor = anchor_of(verification))
        fault = fault_of_anchor(verification, anchor);
    ERR_clear_error(); // stale errors would fail the handshake or hide its cause
    X509_STORE_CTX_set_error(verification, fault);
    return fault == X509_V_OK ? 1 : 0;
}

} // namespace stint::tls
