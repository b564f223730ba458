#include "tls/server.hpp"

#include "tls/certificate_names.hpp"
#include "tls/key_pair.hpp"
#include "tls/server_names.hpp"
#include "tls/server_rules.hpp"
#include "tls/staple.hpp"
#include "tls/tickets.hpp"

#include <algorithm>
#include <exception>
#include <openssl/err.h>
#include <set>
#include <utility>

namespace stint::tls {

namespace {

// A context for one set of names. It may have several certificates with different types of keys,
// such as RSA and ECDSA; OpenSSL chooses one that the client supports.
struct Site {
    ContextPtr context;
    std::vector<std::string> names; // sorted
    std::set<int> kinds;            // types of the keys in the context
};

Site& site_for(std::vector<Site>& sites, const LoadedPair& pair) {
    std::vector<std::string> names = dns_names(*pair.certificate);
    std::sort(names.begin(), names.end());
    const auto found = std::find_if(sites.begin(), sites.end(), [&](const Site& site) {
        return site.names == names && !site.kinds.contains(pair.kind());
    });
    if (found != sites.end())
        return *found;
    return sites.emplace_back(Site{make_context(Side::server), std::move(names), {}});
}

SSL* begin(SSL_CTX* context) noexcept {
    SSL* ssl = SSL_new(context);
    if (ssl != nullptr)
        SSL_set_accept_state(ssl);
    return ssl;
}

// Joins the sites into one context, which chooses by SNI. The first site also serves all unknown
// names, unless these are refused.
ContextPtr joined(std::vector<Site> sites, UnknownName unknown) {
    ContextPtr standard = std::move(sites.front().context);
    if (sites.size() == 1 && unknown == UnknownName::standard)
        return standard;
    ServerNames names;
    names.add(sites.front().names, *standard);
    std::vector<ContextPtr> others;
    for (std::size_t i = 1; i < sites.size(); ++i) {
        names.add(sites[i].names, *sites[i].context);
        others.push_back(std::move(sites[i].context));
    }
    choose_by_name(*standard, std::move(names), std::move(others), unknown);
    return standard;
}

} // namespace

Result<std::shared_ptr<const Server>, std::string>
Server::make(const ServerSettings& settings, std::shared_ptr<TicketKeys> keys) {
    const ErrorsOf cleared;
    const std::shared_ptr<Server> server{new Server};
    std::vector<Site> sites;
    for (const KeyPair& files : settings.certificates) {
        const auto pair = load_pair(files.certificate, files.key);
        if (!pair)
            return pair.error();
        Site& site = site_for(sites, *pair);
        site.kinds.insert(pair->kind());
        if (auto used = use_pair(*site.context, *pair, files.certificate); !used)
            return used.error();
        server->expiries_.push_back({files.certificate, pair->expires()});
        if (pair->is_expired())
            server->warnings_.push_back(files.certificate + " has expired");
        if (files.ocsp_staple.empty())
            continue;
        if (auto stapled =
                staple(*site.context, *pair->certificate, files.ocsp_staple, server->warnings_);
            !stapled)
            return stapled.error();
    }
    for (const Site& site : sites) {
        if (auto applied = apply_rules(*site.context, settings, site.names); !applied)
            return applied.error();
        use_tickets(*site.context, keys);
    }
    const bool refuses = settings.refuses_unknown_names;
    if (refuses && std::ranges::all_of(sites, &std::vector<std::string>::empty, &Site::names))
        return settings.certificates.front().certificate +
               " has no name, so unknown_names: refuse would refuse every client";
    server->context_ =
        joined(std::move(sites), refuses ? UnknownName::refused : UnknownName::standard);
    return std::shared_ptr<const Server>{server};
}

bool Server::serves(SSL& connection, std::string_view host) const {
    return context_for(*context_, host) == SSL_get_SSL_CTX(&connection);
}

SslPtr Server::accept() const {
    return SslPtr{begin(context_.get())};
}

} // namespace stint::tls
