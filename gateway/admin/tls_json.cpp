#include "admin/tls_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace stint::admin {
namespace {

std::string_view wanted_text(config::Tls::ClientCertificate wanted) {
    switch (wanted) {
    case config::Tls::ClientCertificate::none:
        return "off";
    case config::Tls::ClientCertificate::optional:
        return "optional";
    case config::Tls::ClientCertificate::require:
        return "require";
    }
    return {};
}

Json or_word(const std::string& text, std::string_view word) {
    return text.empty() ? Json(word) : Json(text);
}

} // namespace

Json tls_json(const std::optional<config::Tls>& tls) {
    if (!tls)
        return "off";
    Json certificates = Json::array();
    for (const config::Certificate& each : tls->certificates) {
        Json json{{"certificate", each.certificate}, {"key", each.key}};
        if (!each.ocsp_staple.empty())
            json["ocsp_staple"] = each.ocsp_staple;
        certificates.push_back(std::move(json));
    }
    Json json{
        {"certificates", std::move(certificates)},
        {"min_version", tls->only_1_3 ? "1.3" : "1.2"},
        {"ciphers", or_word(tls->ciphers, "default")},
        {"client_certificate", wanted_text(tls->client_certificate)}};
    if (!tls->client_ca.empty())
        json["client_ca"] = tls->client_ca;
    return json;
}

Json upstream_tls_json(const config::Upstream& upstream) {
    if (std::ranges::none_of(upstream.endpoints, &config::Endpoint::tls))
        return "off";
    const config::UpstreamTls& tls = upstream.tls;
    Json json{{"ca", or_word(tls.ca, "system")}, {"verify", tls.verify}};
    for (const auto& [name, value] :
         {std::pair{"crl", &tls.crl}, std::pair{"server_name", &tls.server_name},
          std::pair{"certificate", &tls.certificate}, std::pair{"key", &tls.key}})
        if (!value->empty())
            json[name] = *value;
    return json;
}

} // namespace stint::admin
