// Listeners, and the access log.
#include "config/sections/section_readers.hpp"
#include "config/values/addresses.hpp"
#include "config/values/file_values.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <utility>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 7> listener_keys{
    "address", "half_close", "proxy_protocol", "tls", "redirect_http", "mode", "group"};
constexpr std::array<std::string_view, 2> half_close_words{"allow", "gone"};
constexpr std::array<std::string_view, 7> admin_keys{"address", "token_file", "read_only", "tls",
                                                     "mode",    "group",      "hosts"};
constexpr std::array<std::string_view, 9> permits_keys{
    "address",        "token_file", "dynamic_limits", "dynamic_locks", "max_ttl",
    "start_up_grace", "mode",       "group",          "hosts"};
constexpr std::uint64_t most_dynamic = 1'000'000; // limits, and locks
constexpr milliseconds shortest_ttl = std::chrono::seconds{1};
constexpr milliseconds longest_ttl = std::chrono::hours{24};
constexpr std::array<std::string_view, 2> access_log_keys{"path", "fields"};
constexpr std::string_view an_address = "an address such as 0.0.0.0:8080";

// True if the addresses are equal. Port 0 is another port each time.
bool same_place(const Address& a, const Address& b) {
    const bool chosen_by_kernel = a.kind == Address::Kind::ip && a.port == 0;
    return !chosen_by_kernel && a.kind == b.kind && a.host == b.host && a.port == b.port;
}

void check_free(const Value& value, const Address& address, const LoadState& loading) {
    const Config& config = loading.config;
    const bool taken =
        std::any_of(
            config.listeners.begin(), config.listeners.end(),
            [&](const Listener& other) { return same_place(address, other.address); }) ||
        (config.admin && same_place(address, config.admin->address));
    if (taken)
        value.wrong(in_quotes(address.text) + " is the address of another listener already");
}

// Returns why the file holds no token; "" when it holds one. Does not keep the token.
std::string token_fault(const std::filesystem::path& path) {
    if (std::string fault = file_fault(path); !fault.empty())
        return fault;
    std::ifstream in{path};
    std::string token;
    return in >> token ? "" : " is empty; expected a token";
}

void read_token_file(const Value& value, std::string& file, const LoadState& loading) {
    const auto path = value.as("the path of a file with a token", parse_file_path);
    if (!path)
        return;
    file = (loading.folder / *path).string();
    if (const std::string fault = token_fault(file); !fault.empty())
        value.wrong(in_quotes(file) + fault);
}

void read_target(const Value& value, AccessLog& log, const LoadState& loading) {
    const auto text = value.scalar("stdout, off or the path of a file");
    if (!text)
        return;
    if (*text == "stdout") {
        log.target = AccessLog::Target::standard_output;
    } else if (*text == "off") {
        log.target = AccessLog::Target::off;
    } else if (const auto path = value.as("the path of a file", parse_file_path)) {
        log.target = AccessLog::Target::file;
        log.path = (loading.folder / *path).string();
        std::error_code error;
        if (std::filesystem::is_directory(log.path, error))
            value.wrong(in_quotes(log.path) + " is a folder; expected the path of a file");
    }
}

void read_fields(const Value& value, AccessLog& log) {
    const auto items = value.items("a list such as [header:Referer]");
    if (!items)
        return;
    for (const Value& item : *items) {
        const auto field = item.as("a field such as header:Referer", parse_log_field);
        if (!field)
            continue;
        if (std::find(log.fields.begin(), log.fields.end(), *field) != log.fields.end())
            item.wrong(in_quotes("header:" + *field) + " is listed already");
        log.fields.push_back(*field);
    }
}

void read_proxy_protocol(const Section& section, Listener& listener, const LoadState& loading) {
    const auto value = section.find("proxy_protocol");
    if (!value)
        return;
    value->into(listener.proxy_protocol, "true or false", parse_bool);
    const TrustedProxies& trusted = loading.config.trusted_proxies;
    if (listener.proxy_protocol && trusted.networks.empty() && !trusted.unix_peers)
        value->wrong("needs trusted_proxies: from others no connection is taken");
}

// The port of https: 443 for true.
Parsed<std::uint16_t> parse_redirect_http(std::string_view text) {
    if (text == "true" || text == "false")
        return static_cast<std::uint16_t>(text == "true" ? 443 : 0);
    const auto port = parse_count(text, 1, 65'535);
    if (!port)
        return ParseError{port.error().why + ", or true or false"};
    return static_cast<std::uint16_t>(*port);
}

Parsed<milliseconds> parse_ttl(std::string_view text) {
    const auto ttl = parse_timeout(text);
    if (ttl && (*ttl < shortest_ttl || *ttl > longest_ttl))
        return ParseError{in_quotes(text) + " is out of range; expected 1s to 24h"};
    return ttl;
}

Parsed<milliseconds> parse_grace(std::string_view text) {
    if (text == "0s")
        return milliseconds{0};
    const auto grace = parse_timeout(text);
    if (!grace)
        return ParseError{grace.error().why + ", or 0s"};
    if (*grace > longest_ttl)
        return ParseError{in_quotes(text) + " is out of range; expected at most 24h"};
    return grace;
}

// Reads the bounds of what callers create: limits, locks and the TTL of leases; start_up_grace.
void read_dynamic(const Section& section, Permits& permits) {
    const auto parse = [](std::string_view text) {
        if (text == "0")
            return Parsed<std::uint64_t>{std::uint64_t{0}};
        const auto count = parse_count(text, 1, most_dynamic);
        return count ? count : Parsed<std::uint64_t>{ParseError{count.error().why + ", or 0"}};
    };
    if (const auto most = section.find("dynamic_limits"))
        most->into(permits.dynamic_limits, "a number of limits", parse);
    if (const auto most = section.find("dynamic_locks"))
        most->into(permits.dynamic_locks, "a number of locks", parse);
    if (const auto ttl = section.find("max_ttl"))
        ttl->into(permits.max_ttl, "a duration such as 60s", parse_ttl);
    if (const auto grace = section.find("start_up_grace"))
        permits.start_up_grace = grace->as("a duration such as 60s, or 0s", parse_grace);
}

} // namespace

void read_listeners(const Value& value, LoadState& loading) {
    const auto items = value.items("a list of listeners such as [{address: 0.0.0.0:8080}]");
    if (items && items->empty())
        value.wrong("is empty; expected at least one listener");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto section =
            Section::open(item, listener_keys, "a map such as {address: 0.0.0.0:8080}");
        if (!section)
            continue;
        Listener listener;
        if (const auto half_close = section->find("half_close"))
            if (const auto word = half_close->as("allow or gone", [](std::string_view text) {
                    return parse_word(text, half_close_words);
                }))
                listener.half_close_allowed = *word == "allow";
        read_proxy_protocol(*section, listener, loading);
        if (const auto tls = section->find("tls"))
            read_tls(*tls, loading, listener.tls.emplace());
        if (listener.tls && listener.tls->client_certificate != Tls::ClientCertificate::none)
            loading.asks_for_certificates = true;
        if (const auto redirect = section->find("redirect_http"))
            redirect->into(listener.https_port, "true, false or a port", parse_redirect_http);
        if (listener.tls && listener.https_port != 0)
            section->wrong_at("redirect_http", "is for a listener without tls");
        const auto address = section->require("address", an_address);
        if (!address)
            continue;
        if (auto parsed = address->as(an_address, parse_address)) {
            check_free(*address, *parsed, loading);
            listener.address = std::move(*parsed);
            read_socket_file(*section, listener.address);
            loading.config.listeners.push_back(std::move(listener));
        }
    }
}

void read_admin(const Value& value, LoadState& loading) {
    const auto section =
        Section::open(value, admin_keys, "a map such as {address: 127.0.0.1:9901}");
    if (!section)
        return;
    Admin admin;
    const auto token_file = section->find("token_file");
    if (token_file)
        read_token_file(*token_file, admin.token_file, loading);
    const auto read_only = section->find("read_only");
    if (read_only)
        read_only->into(admin.read_only, "true or false", parse_bool);
    if (const auto tls = section->find("tls"))
        read_tls(*tls, loading, admin.tls.emplace());
    read_hosts(*section, admin.hosts);
    if (const auto address = section->require("address", "an address such as 127.0.0.1:9901")) {
        if (auto parsed = address->as("an address such as 127.0.0.1:9901", parse_address)) {
            check_free(*address, *parsed, loading);
            if (!is_local(*parsed) && !token_file && !admin.read_only)
                address->wrong(
                    in_quotes(parsed->text) +
                    " can be reached from other machines; expected a token_file, read_only: true, "
                    "or an address such as 127.0.0.1:9901");
            admin.address = std::move(*parsed);
            read_socket_file(*section, admin.address);
        }
    }
    loading.config.admin = std::move(admin);
}

void read_permits(const Value& value, LoadState& loading) {
    constexpr std::string_view an_example = "an address such as 127.0.0.1:8082";
    const auto section =
        Section::open(value, permits_keys, "a map such as {address: 127.0.0.1:8082}");
    if (!section)
        return;
    Permits permits;
    const auto token_file = section->find("token_file");
    if (token_file)
        read_token_file(*token_file, permits.token_file, loading);
    read_dynamic(*section, permits);
    read_hosts(*section, permits.hosts);
    if (const auto address = section->require("address", an_example)) {
        if (auto parsed = address->as(an_example, parse_address)) {
            check_free(*address, *parsed, loading);
            if (!is_local(*parsed) && !token_file)
                address->wrong(
                    in_quotes(parsed->text) + " can be reached from other machines; expected a "
                                              "token_file, or an address such as 127.0.0.1:8082");
            permits.address = std::move(*parsed);
            read_socket_file(*section, permits.address);
        }
    }
    loading.config.permits = std::move(permits);
}

void read_access_log(const Value& value, LoadState& loading) {
    const auto section = Section::open(value, access_log_keys, "a map such as {path: stdout}");
    if (!section)
        return;
    if (const auto path = section->find("path"))
        read_target(*path, loading.config.access_log, loading);
    if (const auto fields = section->find("fields"))
        read_fields(*fields, loading.config.access_log);
}

} // namespace stint::config
