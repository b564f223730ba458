// Directives of servers and listeners, with nginx's modules ssl and realip.
#include "config/values/addresses.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace stint::import_nginx {

namespace {

// Returns the address as Stint writes it; "" if it is not one.
std::string listen_address(const std::string& argument) {
    std::string address = argument;
    if (number_of(argument))
        address = "0.0.0.0:" + argument;
    else if (argument.starts_with("*:"))
        address = "0.0.0.0" + argument.substr(1);
    else if (argument.starts_with("localhost"))
        address = "127.0.0.1" + argument.substr(std::string_view{"localhost"}.size());
    const bool has_port = !config::split_host_port(address).port.empty();
    if (!address.starts_with("unix:") && !has_port)
        address += ":80";
    return config::parse_address(address) ? address : std::string{};
}

void read_listen_option(
    Block& block, const Directive& directive, const std::string& argument, Listen& listen) {
    constexpr std::array<std::string_view, 9> unneeded{"backlog",      "reuseport", "deferred",
                                                       "so_keepalive", "fastopen",  "rcvbuf",
                                                       "sndbuf",       "bind",      "ipv6only"};
    const std::string_view word = std::string_view{argument}.substr(0, argument.find('='));
    if (argument == "ssl")
        listen.tls = true;
    else if (argument == "http2")
        listen.http2 = true;
    else if (argument == "proxy_protocol")
        listen.proxy_protocol = true;
    else if (argument == "default_server" || argument == "default")
        listen.is_default = true;
    else if (argument == "ipv6only=off")
        block.report.lose(
            directive, "ipv6only=off: add a listener for IPv4, 0.0.0.0, to the draft");
    else if (std::ranges::find(unneeded, word) != unneeded.end())
        block.report.note(directive, std::string{word} + ": Stint chooses it itself");
    else
        block.report.lose(directive, config::in_quotes(word) + " has no counterpart");
}

void read_listen(Block& block, const Directive& directive) {
    Listen listen{.address = listen_address(directive.args.front()), .at = &directive};
    if (listen.address.empty())
        return block.report.lose(
            directive, config::in_quotes(directive.args.front()) +
                           " is not an address that Stint listens on; expected a port, IPv4:port, "
                           "[IPv6]:port or unix:/path");
    listen.local = config::is_local(*config::parse_address(listen.address));
    for (std::size_t i = 1; i < directive.args.size(); ++i)
        read_listen_option(block, directive, directive.args[i], listen);
    block.server->listens.push_back(std::move(listen));
}

void read_server(Block& block, const Directive& directive) {
    Server server;
    server.settings = *block.settings;
    server.clients = block.model.clients;
    server.protocols = block.model.protocols;
    server.at = &directive;
    Block inner{
        .where = context::server,
        .model = block.model,
        .report = block.report,
        .settings = &server.settings,
        .server = &server};
    read_block(inner, directive.block);
    const bool listens = std::ranges::any_of(
        directive.block, [](const Directive& one) { return one.name == "listen"; });
    if (server.listens.empty() && listens)
        return block.report.lose(directive, "none of its addresses can be listened on; left out");
    if (server.listens.empty())
        server.listens.push_back({.address = "0.0.0.0:80", .at = &directive});
    const bool encrypts = std::ranges::any_of(server.listens, &Listen::tls);
    if (encrypts && !server.clients.mode.empty() && !server.clients.asks()) {
        server.unverifiable = server.clients.at;
        block.report.lose(
            *server.unverifiable, "has no CA by which clients could be verified; the draft refuses "
                                  "(403) all that its server has");
    }
    const ClientVerification& clients = server.clients;
    if (encrypts && clients.asks() && !clients.trusted.empty() &&
        clients.authority() != clients.trusted)
        block.report.lose(
            *clients.at,
            "ssl_trusted_certificate verifies clients, too; the draft has ssl_client_certificate");
    block.model.servers.push_back(std::move(server));
}

void read_certificate(Block& block, const Directive& directive) {
    auto& all = block.server != nullptr ? block.server->certificates : block.model.certificates;
    const std::string path = read_path(block, directive);
    const bool is_key = directive.name == "ssl_certificate_key";
    const auto open = std::ranges::find_if(
        all, [&](const auto& pair) { return (is_key ? pair.second : pair.first).empty(); });
    auto& pair = open == all.end() ? all.emplace_back() : *open;
    (is_key ? pair.second : pair.first) = path;
}

template <std::string Server::*Member>
void read_server_file(Block& block, const Directive& directive) {
    if (block.server == nullptr)
        return block.report.lose(directive, "is read in a server only; set it in the draft's tls");
    block.server->*Member = read_path(block, directive);
}

void read_protocols(Block& block, const Directive& directive) {
    const auto& words = directive.args;
    (block.server != nullptr ? block.server->protocols
                             : block.model.protocols) = {words, &directive};
    const auto old = [](const std::string& word) { return word != "TLSv1.2" && word != "TLSv1.3"; };
    if (std::ranges::any_of(words, old))
        block.report.lose(directive, "Stint has TLS 1.2 and 1.3 alone");
}

ClientVerification& clients_of(Block& block) {
    return block.server != nullptr ? block.server->clients : block.model.clients;
}

template <std::string ClientVerification::*Member>
void read_authority(Block& block, const Directive& directive) {
    ClientVerification& clients = clients_of(block);
    clients.*Member = read_path(block, directive);
    if (clients.authority() == clients.*Member)
        clients.authority_at = &directive;
}

void read_verify_client(Block& block, const Directive& directive) {
    const std::string& word = directive.args.front();
    if (word == "optional_no_ca")
        block.report.lose(directive, "has no counterpart; see client_ca of a listener's tls");
    else if (word != "on" && word != "optional" && word != "off")
        return lose_argument(block, directive, "on, off, optional or optional_no_ca");
    clients_of(block).mode = word == "on" || word == "optional" ? word : std::string{};
    clients_of(block).at = &directive;
}

void read_real_ip_from(Block& block, const Directive& directive) {
    if (block.location != nullptr)
        return block.report.lose(directive, "trusted_proxies are those of all routes; left out");
    if (block.server != nullptr)
        block.report.lose(
            directive, "is of one server in nginx; in the draft it is trusted by all routes");
    auto& trusted = block.model.real_ip.trusted;
    const std::string network = directive.args.front() == "unix:" ? "unix" : directive.args.front();
    if (std::ranges::find(trusted, network, &RealIp::Trusted::network) == trusted.end())
        trusted.push_back({network, &directive});
}

void read_real_ip_header(Block& block, const Directive& directive) {
    RealIp& real_ip = block.model.real_ip;
    if (block.location != nullptr ||
        (!real_ip.header.empty() && real_ip.header != directive.args.front()))
        return block.report.lose(directive, "client_ip_header is that of all routes; left out");
    real_ip.header = directive.args.front();
    real_ip.header_at = &directive;
}

constexpr unsigned http_or_server = context::http | context::server;
constexpr std::array table_of_server{
    Row{"server", context::http, 0, 0, read_server},
    Row{"listen", context::server, 1, many, read_listen},
    Row{"server_name", context::server, 1, many,
        [](Block& block, const Directive& directive) {
            for (const std::string& name : directive.args)
                block.server->names.push_back({name, &directive});
        }},
    Row{"ssl_certificate", http_or_server, 1, 1, read_certificate},
    Row{"ssl_certificate_key", http_or_server, 1, 1, read_certificate},
    Row{"ssl_stapling_file", http_or_server, 1, 1, read_server_file<&Server::staple>},
    Row{"ssl_client_certificate", http_or_server, 1, 1, read_authority<&ClientVerification::ca>},
    Row{"ssl_trusted_certificate", http_or_server, 1, 1,
        read_authority<&ClientVerification::trusted>},
    Row{"ssl_verify_client", http_or_server, 1, 1, read_verify_client},
    Row{"ssl_protocols", http_or_server, 1, many, read_protocols},
    Row{"ssl_reject_handshake", http_or_server, 1, 1,
        [](Block& block, const Directive& directive) {
            if (block.server == nullptr)
                return block.report.lose(directive, "is read in a server only");
            block.server->rejects_handshake = read_switch(block, directive) ? &directive : nullptr;
        }},
    Row{"http2", http_or_server, 1, 1,
        [](Block& block, const Directive& directive) {
            if (block.server == nullptr)
                return block.report.lose(
                    directive, "is read in a server only; see http of a listener");
            block.server->http2 = read_switch(block, directive);
        }},
    Row{"set_real_ip_from", context::shared, 1, 1, read_real_ip_from},
    Row{"real_ip_header", context::shared, 1, 1, read_real_ip_header},
    Row{"real_ip_recursive", context::shared, 1, 1,
        [](Block& block, const Directive& directive) {
            const bool recursive = read_switch(block, directive);
            if (in_http(block))
                block.model.real_ip.recursive = recursive;
            else if (recursive != block.model.real_ip.recursive)
                block.report.lose(directive, "is that of all routes; left out");
        }},
};

} // namespace

std::span<const Row> server_rows() {
    return table_of_server;
}

} // namespace stint::import_nginx
