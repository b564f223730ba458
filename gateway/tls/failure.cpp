// Describes the reasons of failed handshakes in words.
#include "tls/certificate_names.hpp"
#include "tls/openssl.hpp"
#include "tls/ssl.hpp"

#include <algorithm>
#include <array>
#include <openssl/err.h>
#include <openssl/sslerr.h>

namespace stint::tls {

namespace {

struct Meaning {
    int code;
    std::string_view text;
};

constexpr std::array<Meaning, 18> verification_meanings{{
    {X509_V_ERR_CERT_HAS_EXPIRED, "its certificate has expired"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "its certificate is not valid yet"},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "its certificate is self-signed"},
    {X509_V_ERR_CERT_REVOKED, "its certificate was revoked"},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "it is not signed by a known authority"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "it is not signed by a known authority"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "it is not signed by a known authority"},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "it is not signed by a known authority"},
    {X509_V_ERR_CERT_UNTRUSTED, "it is not signed by a known authority"},
    {X509_V_ERR_CERT_SIGNATURE_FAILURE, "the signature of its certificate is wrong"},
    {X509_V_ERR_INVALID_CA, "its certificate is signed by one that may not sign"},
    {X509_V_ERR_INVALID_PURPOSE, "its certificate is for another purpose"},
    {X509_V_ERR_CRL_HAS_EXPIRED, "the list of revoked certificates (CRL) has expired"},
    {X509_V_ERR_CRL_NOT_YET_VALID, "the list of revoked certificates (CRL) is not valid yet"},
    {X509_V_ERR_CRL_SIGNATURE_FAILURE, "the list of revoked certificates (CRL) is forged"},
    {X509_V_ERR_EE_KEY_TOO_SMALL, "the key of its certificate is too short"},
    {X509_V_ERR_CA_KEY_TOO_SMALL, "the key of its authority's certificate is too short"},
    {X509_V_ERR_CA_MD_TOO_WEAK, "its certificate has a weak signature"},
}};

constexpr std::string_view no_version = "no common protocol version";
constexpr std::string_view no_cipher = "no common cipher";
constexpr std::string_view no_tls = "it does not speak TLS";
constexpr std::string_view not_trusted = "it does not accept the certificate that it was shown";
constexpr std::string_view wants_certificate = "it asks for a certificate";
constexpr std::string_view left = "it closed the connection during the handshake";

constexpr std::array<Meaning, 30> ssl_meanings{{
    {SSL_R_HTTP_REQUEST, no_tls},
    {SSL_R_HTTPS_PROXY_REQUEST, no_tls},
    {SSL_R_WRONG_VERSION_NUMBER, no_tls},
    {SSL_R_PACKET_LENGTH_TOO_LONG, no_tls},
    {SSL_R_BAD_RECORD_TYPE, no_tls},
    {SSL_R_UNSUPPORTED_PROTOCOL, no_version},
    {SSL_R_UNKNOWN_PROTOCOL, no_version},
    {SSL_R_VERSION_TOO_LOW, no_version},
    {SSL_R_WRONG_SSL_VERSION, no_version},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, no_version},
    {SSL_R_NO_SHARED_CIPHER, no_cipher},
    {SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY, no_cipher},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "it found no common ground (alert handshake_failure)"},
    {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "no common signature algorithm"},
    {SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, "no common signature algorithm"},
    {SSL_R_NO_SUITABLE_KEY_SHARE, "no common key exchange"},
    {SSL_R_NO_APPLICATION_PROTOCOL, "it speaks no HTTP/1.1 (ALPN)"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "it showed no certificate"},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, wants_certificate},
    {SSL_R_SSLV3_ALERT_NO_CERTIFICATE, wants_certificate},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, not_trusted},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, not_trusted},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, not_trusted},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, not_trusted},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, not_trusted},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, not_trusted},
    {SSL_R_TLSV1_ALERT_ACCESS_DENIED, not_trusted},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME, "it has no such name"},
    {SSL_R_CALLBACK_FAILED, "it asks for a name of no certificate"}, // server_names.cpp
    {SSL_R_UNEXPECTED_EOF_WHILE_READING, left},
}};

template <std::size_t Size>
std::string_view find(const std::array<Meaning, Size>& meanings, int code) noexcept {
    const auto* const found = std::find_if(
        meanings.begin(), meanings.end(), [&](const Meaning& each) { return each.code == code; });
    return found != meanings.end() ? found->text : std::string_view{};
}

// Returns the certificate that the peer has sent. Before it is accepted, OpenSSL has it only in the
// verified chain.
X509* certificate_refused(SSL& ssl) noexcept {
    STACK_OF(X509)* chain = SSL_get0_verified_chain(&ssl);
    return sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : SSL_get0_peer_certificate(&ssl);
}

std::string wrong_name(SSL& ssl, std::string_view expected) {
    constexpr std::size_t most_listed = 3;
    X509* certificate = certificate_refused(ssl);
    std::vector<std::string> names;
    if (certificate != nullptr)
        names = all_names(*certificate);
    std::string text = "its certificate is for ";
    if (names.empty())
        text += "no name";
    for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i)
        text.append(i > 0 ? ", " : "").append(names[i]);
    if (names.size() > most_listed)
        text += " and others";
    return text.append(", not for ").append(expected);
}

std::string verification_failure(SSL& ssl, long code, std::string_view expected) {
    if (code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH)
        return wrong_name(ssl, expected);
    const std::string_view known = find(verification_meanings, static_cast<int>(code));
    if (!known.empty())
        return std::string{known};
    return std::string{"its certificate was not accepted: "}.append(
        X509_verify_cert_error_string(code));
}

// Describes the first error of OpenSSL's queue, which is the cause of all later ones.
std::string protocol_failure(unsigned long error) {
    if (error == 0)
        return std::string{left};
    const std::string_view known =
        ERR_GET_LIB(error) == ERR_LIB_SSL ? find(ssl_meanings, ERR_GET_REASON(error)) : "";
    if (!known.empty())
        return std::string{known};
    const char* reason = ERR_reason_error_string(error);
    return std::string{"the handshake failed: "}.append(reason != nullptr ? reason : "unknown");
}

} // namespace

std::string reason_of_failure(SSL& ssl, std::string_view expected_name) {
    const unsigned long error = ERR_peek_error();
    const long verification = SSL_get_verify_result(&ssl);
    const bool refused = ERR_GET_LIB(error) == ERR_LIB_SSL &&
                         ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED;
    std::string reason = refused && verification != X509_V_OK
                             ? verification_failure(ssl, verification, expected_name)
                             : protocol_failure(error);
    ERR_clear_error();
    return reason;
}

} // namespace stint::tls
