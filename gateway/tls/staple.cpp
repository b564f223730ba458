#include "tls/staple.hpp"

#include "tls/openssl.hpp"

#include <algorithm>
#include <cstddef>
#include <openssl/crypto.h>
#include <openssl/ocsp.h>
#include <utility>

namespace stint::tls {

namespace {

using ResponsePtr = std::unique_ptr<OCSP_RESPONSE, Freeing<&OCSP_RESPONSE_free>>;
using BasicPtr = std::unique_ptr<OCSP_BASICRESP, Freeing<&OCSP_BASICRESP_free>>;
using TimePtr = std::unique_ptr<ASN1_TIME, Freeing<&ASN1_TIME_free>>;

struct Staple {
    const X509* certificate; // owned by the context
    std::vector<unsigned char> response;
    TimePtr until; // nullptr means the response never expires

    [[nodiscard]] bool is_over() const noexcept {
        return until && X509_cmp_current_time(until.get()) < 0;
    }
};

using Staples = std::vector<Staple>;

int on_status_request(SSL* ssl, void*) noexcept {
    const Staples* staples = Attached<Staples>::find(SSL_get_SSL_CTX(ssl));
    const X509* shown = SSL_get_certificate(ssl);
    const auto found = std::find_if(staples->begin(), staples->end(), [&](const Staple& each) {
        return each.certificate == shown;
    });
    if (found == staples->end() || found->is_over())
        return SSL_TLSEXT_ERR_NOACK;
    void* copy = OPENSSL_memdup(found->response.data(), found->response.size());
    if (copy == nullptr)
        return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(found->response.size()));
    return SSL_TLSEXT_ERR_OK;
}

// Finds the response about this certificate. Compares serial numbers only, because the issuer's
// certificate may not be available.
OCSP_SINGLERESP* answer_about(OCSP_BASICRESP* basic, const X509& certificate) {
    for (int i = 0; i < OCSP_resp_count(basic); ++i) {
        OCSP_SINGLERESP* single = OCSP_resp_get0(basic, i);
        ASN1_INTEGER* serial = nullptr;
        OCSP_id_get0_info(
            nullptr, nullptr, nullptr, &serial,
            const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(single)));
        if (serial != nullptr &&
            ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(&certificate)) == 0)
            return single;
    }
    return nullptr;
}

std::vector<unsigned char> read_all(BIO* in) {
    constexpr std::size_t most = 64 * 1024;
    std::vector<unsigned char> bytes(most);
    const int size = BIO_read(in, bytes.data(), static_cast<int>(most));
    bytes.resize(static_cast<std::size_t>(std::max(size, 0)));
    return bytes;
}

} // namespace

Result<void, std::string> staple(
    SSL_CTX& context,
    X509& certificate,
    const std::string& file,
    std::vector<std::string>& warnings) {
    const ErrorsOf cleared;
    std::string fault;
    const BioPtr in = open_file(file, fault);
    if (!in)
        return fault;
    Staple read{&certificate, read_all(in.get()), nullptr};
    const unsigned char* begin = read.response.data();
    const ResponsePtr response{
        d2i_OCSP_RESPONSE(nullptr, &begin, static_cast<long>(read.response.size()))};
    const BasicPtr basic{response ? OCSP_response_get1_basic(response.get()) : nullptr};
    if (!basic || OCSP_response_status(response.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        return file + " holds no OCSP response in DER";
    OCSP_SINGLERESP* single = answer_about(basic.get(), certificate);
    if (single == nullptr)
        return file + " holds an OCSP response about another certificate";
    ASN1_GENERALIZEDTIME* next = nullptr;
    if (OCSP_single_get0_status(single, nullptr, nullptr, nullptr, &next) != V_OCSP_CERTSTATUS_GOOD)
        warnings.push_back(file + " says that the certificate is not good");
    if (next != nullptr)
        read.until.reset(ASN1_STRING_dup(next));
    if (read.is_over())
        warnings.push_back(file + " is too old, so it is not sent");

    Staples* staples = Attached<Staples>::find(&context);
    if (staples == nullptr)
        staples = &Attached<Staples>::attach(context, std::make_unique<Staples>());
    staples->push_back(std::move(read));
    SSL_CTX_set_tlsext_status_cb(&context, &on_status_request);
    return {};
}

} // namespace stint::tls
