// Listeners that only redirect to https.
#include "import/draft/listeners.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace stint::import_nginx {

namespace {

// Where a `return` of a redirect to the same path with https leads.
struct Redirect {
    const Directive* by = nullptr;
    std::string host; // "": the same as before
    std::uint64_t port = 443;
};

std::optional<Redirect> to_https(const Directive& directive) {
    constexpr std::string_view https = "https://", target = "$request_uri";
    if (directive.args.empty())
        return std::nullopt;
    const std::string& text = directive.args.back();
    const auto status =
        directive.args.size() == 2 ? number_of(directive.args[0]) : std::uint64_t{302};
    const bool redirects = status && *status >= 301 && *status <= 308;
    if (!redirects || !text.starts_with(https) || !text.ends_with(target) ||
        text.find('/', https.size()) != std::string::npos)
        return std::nullopt;
    Redirect redirect{
        &directive, text.substr(https.size(), text.size() - https.size() - target.size())};
    const std::size_t colon = redirect.host.rfind(':');
    if (colon != std::string::npos && !redirect.host.ends_with(']')) {
        const auto port = number_of(std::string_view{redirect.host}.substr(colon + 1));
        if (!port || *port == 0 || *port > 65'535)
            return std::nullopt;
        redirect.port = *port;
        redirect.host.resize(colon);
    }
    if (redirect.host.starts_with('$'))
        redirect.host.clear();
    return redirect;
}

// Returns the redirect that is all that a server answers; nullopt if it does anything else.
std::optional<Redirect> redirect_of(const Server& server) {
    const auto& by_host = server.answers_by_host;
    const bool all_lead = std::ranges::all_of(
        by_host, [](const auto& one) { return to_https(*one.second).has_value(); });
    if (!all_lead || guard_of_return(server.settings) != nullptr)
        return std::nullopt;
    if (server.action.kind == Action::Kind::answer) {
        const auto status = number_of(server.action.at->args.front());
        const bool refuses = status && *status >= 400;
        return refuses && !by_host.empty() ? to_https(*by_host.front().second)
                                           : to_https(*server.action.at);
    }
    std::optional<Redirect> found;
    for (const Location& location : server.locations) {
        const bool answers = location.action.kind == Action::Kind::answer &&
                             guard_of_return(location.settings) == nullptr;
        const auto redirect = answers ? to_https(*location.action.at) : std::nullopt;
        if (location.pattern == "/" && redirect)
            found = redirect;
        else if (location.pattern.find("/.well-known/") == std::string::npos)
            return std::nullopt;
    }
    return found;
}

} // namespace

// Reports what of a server the redirects of its listener lack.
void Listeners::compare_redirect(const Listener& listener, const Server& server) {
    const auto redirect = redirect_of(server);
    if (!redirect)
        return;
    const bool same = redirect->host.empty() ||
                      (server.names.size() == 1 && server.first_name() == redirect->host);
    if (redirect->port != listener.redirect_port)
        report_.lose(
            *redirect->by, "redirect_http of the listener leads to port " +
                               std::to_string(listener.redirect_port) + " for all of its names");
    else if (same)
        report_.note(
            *redirect->by, "redirect_http of the listener: 308, to the host that the client names");
    else
        report_.lose(
            *redirect->by, "redirect_http of the listener leads to the host that the client names");
    for (const Location& location : server.locations)
        if (location.pattern != "/")
            report_.lose(*location.at, "its listener only redirects to https; left out");
}

void Listeners::find_redirects() {
    const bool any_encrypts = std::ranges::any_of(listeners_, [](const Listener& one) {
        return std::ranges::any_of(one.listens, [](const Listen* listen) { return listen->tls; });
    });
    for (Listener& listener : listeners_) {
        const bool clear =
            std::ranges::none_of(listener.listens, [](const Listen* one) { return one->tls; });
        listener.redirects =
            clear && any_encrypts && std::ranges::all_of(listener.servers, [](const Server* one) {
                return redirect_of(*one).has_value();
            });
        if (!listener.redirects)
            continue;
        if (const auto first = redirect_of(*listener.servers.front()))
            listener.redirect_port = first->port;
        for (const Server* const server : listener.servers)
            compare_redirect(listener, *server);
    }
}

} // namespace stint::import_nginx
