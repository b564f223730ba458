// Directives of nginx's modules proxy and headers.
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <array>
#include <string>

namespace stint::import_nginx {

namespace {

void read_time(Block& block, const Directive& directive, Milliseconds& time) {
    const auto read = time_of(directive.args.front());
    if (!read || read->count() == 0)
        return lose_argument(block, directive, "a time such as 60s, from 1ms to 366 days");
    time = *read;
}

template <Milliseconds Settings::*Member>
void read_time_of(Block& block, const Directive& directive) {
    read_time(block, directive, block.settings->*Member);
}

template <std::string UpstreamTls::*Member>
void read_tls_file(Block& block, const Directive& directive) {
    block.settings->tls.*Member = read_path(block, directive);
}

void read_proxy_pass(Block& block, const Directive& directive) {
    if (block.location == nullptr)
        return block.report.lose(directive, "is expected in a location; left out");
    Action& action = block.location->action;
    if (action.kind == Action::Kind::none)
        action = {Action::Kind::proxy, &directive, action.rewrite};
}

void read_request_header(Block& block, const Directive& directive) {
    block.own(block.settings->request_headers, "proxy_set_header")
        .push_back({directive.args[0], directive.args[1], &directive});
}

void read_response_header(Block& block, const Directive& directive) {
    if (directive.args.size() == 3 && directive.args[2] != "always")
        return lose_argument(block, directive, "always");
    block.own(block.settings->response_headers, "add_header")
        .push_back({directive.args[0], directive.args[1], &directive, directive.args.size() == 3});
}

void read_hidden_header(Block& block, const Directive& directive) {
    block.own(block.settings->hidden_headers, "proxy_hide_header")
        .push_back({.name = directive.args.front(), .at = &directive});
}

void read_next_upstream(Block& block, const Directive& directive) {
    block.settings->next_upstream.at = &directive;
}

void read_tries(Block& block, const Directive& directive) {
    const auto number = number_of(directive.args.front());
    if (!number)
        return lose_argument(block, directive, "a number");
    block.settings->next_upstream.tries = *number;
}

void read_http_version(Block& block, const Directive& directive) {
    if (directive.args.front() == "1.1" || directive.args.front() == "1.0")
        block.report.note(directive, "Stint speaks HTTP/1.1 to upstreams, and keeps connections");
    else
        block.report.lose(directive, "Stint speaks HTTP/1.1 to upstreams");
}

// Reads a switch that Stint does not have, as it does so always or never.
template <bool Always>
void read_fixed(Block& block, const Directive& directive) {
    constexpr const char* why = Always ? "Stint always does so" : "Stint does no such thing";
    if (read_switch(block, directive) == Always)
        block.report.note(directive, why);
    else
        block.report.lose(directive, why);
}

constexpr unsigned shared = context::shared;
constexpr std::array table_of_proxy{
    Row{"proxy_pass", context::server | context::location, 1, 1, read_proxy_pass},
    Row{"proxy_set_header", shared, 2, 2, read_request_header},
    Row{"add_header", shared, 2, 3, read_response_header},
    Row{"proxy_hide_header", shared, 1, 1, read_hidden_header},
    Row{"proxy_connect_timeout", shared, 1, 1, read_time_of<&Settings::connect>},
    Row{"proxy_read_timeout", shared, 1, 1, read_time_of<&Settings::read>},
    Row{"proxy_send_timeout", shared, 1, 1, read_time_of<&Settings::send>},
    Row{"client_body_timeout", shared, 1, 1, read_time_of<&Settings::client_body>},
    Row{"send_timeout", shared, 1, 1, read_time_of<&Settings::client_send>},
    Row{"proxy_next_upstream", shared, 1, many, read_next_upstream},
    Row{"proxy_next_upstream_tries", shared, 1, 1, read_tries},
    Row{"proxy_http_version", shared, 1, 1, read_http_version},
    Row{"proxy_ssl_trusted_certificate", shared, 1, 1, read_tls_file<&UpstreamTls::ca>},
    Row{"proxy_ssl_crl", shared, 1, 1, read_tls_file<&UpstreamTls::crl>},
    Row{"proxy_ssl_certificate", shared, 1, 1, read_tls_file<&UpstreamTls::certificate>},
    Row{"proxy_ssl_certificate_key", shared, 1, 1, read_tls_file<&UpstreamTls::key>},
    Row{"proxy_ssl_name", shared, 1, 1,
        [](Block& block, const Directive& directive) {
            if (has_variables(directive.args.front()))
                return block.report.lose(
                    directive, "has a variable; the draft sends the endpoint's name");
            block.settings->tls.name = directive.args.front();
        }},
    Row{"proxy_ssl_verify", shared, 1, 1,
        [](Block& block, const Directive& directive) {
            block.settings->tls.verify = read_switch(block, directive);
        }},
    Row{"proxy_ssl_server_name", shared, 1, 1, read_fixed<true>},
    Row{"proxy_socket_keepalive", shared, 1, 1, read_fixed<false>},
    Row{"proxy_intercept_errors", shared, 1, 1, read_fixed<false>},
    Row{"proxy_pass_request_headers", shared, 1, 1, read_fixed<true>},
    Row{"proxy_pass_request_body", shared, 1, 1, read_fixed<true>},
    Row{"proxy_buffering", shared, 1, 1,
        [](Block& block, const Directive& directive) {
            block.report.note(
                directive,
                read_switch(block, directive)
                    ? "Stint streams responses: a slow client keeps its connection to the upstream"
                    : "Stint streams responses");
        }},
    Row{"proxy_request_buffering", shared, 1, 1,
        [](Block& block, const Directive& directive) {
            block.report.note(
                directive, read_switch(block, directive)
                               ? "Stint streams bodies of requests: the upstream sees slow clients"
                               : "Stint streams bodies of requests");
        }},
    Row{.name = "proxy_redirect",
        .where = shared,
        .least = 1,
        .most = 2,
        .read =
            [](Block& block, const Directive& directive) {
                const std::string& word = directive.args.front();
                block.settings->default_redirect = word == "default";
                if (word == "off" || word == "default")
                    block.report.note(directive, "Stint does not change Location");
                else
                    block.report.lose(directive, "Stint does not change Location and Refresh");
            }},
};

} // namespace

std::span<const Row> proxy_rows() {
    return table_of_proxy;
}

} // namespace stint::import_nginx
