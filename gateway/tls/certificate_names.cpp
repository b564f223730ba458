#include "tls/certificate_names.hpp"

#include "base/ip_address.hpp"
#include "tls/openssl.hpp"

#include <algorithm>
#include <openssl/x509v3.h>
#include <string_view>

namespace stint::tls {

namespace {

using AlternativeNames = std::unique_ptr<GENERAL_NAMES, Freeing<&GENERAL_NAMES_free>>;

std::string_view text_of(const ASN1_STRING* text) noexcept {
    return {
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
        static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string in_lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

// Adds a name in lower case, unless it is empty or has unprintable characters, which could break
// log lines or C strings.
void add_name(std::vector<std::string>& names, std::string_view name) {
    const bool printable =
        std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (!name.empty() && printable)
        names.push_back(in_lower_case(name));
}

void add_common_names(std::vector<std::string>& names, X509& certificate) {
    const X509_NAME* subject = X509_get_subject_name(&certificate);
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
        add_name(names, text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
}

std::vector<std::string> names_of(X509& certificate, bool addresses) {
    std::vector<std::string> names;
    const AlternativeNames found{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
    if (!found)
        add_common_names(names, certificate);
    for (int i = 0; found && i < sk_GENERAL_NAME_num(found.get()); ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
        if (name->type == GEN_DNS)
            add_name(names, text_of(name->d.dNSName));
        if (name->type == GEN_IPADD && addresses) {
            const IpAddress address = IpAddress::from_bytes(text_of(name->d.iPAddress));
            const auto bits = static_cast<std::uint8_t>(address.bits());
            if (!address.empty())
                names.emplace_back(IpText{Cidr{address, bits}}.view());
        }
    }
    return names;
}

} // namespace

std::vector<std::string> dns_names(X509& certificate) {
    return names_of(certificate, false);
}

std::vector<std::string> all_names(X509& certificate) {
    return names_of(certificate, true);
}

} // namespace stint::tls
