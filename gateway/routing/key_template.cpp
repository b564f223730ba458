#include "routing/key_template.hpp"

#include "routing/key_sources.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stint::routing {

namespace {

constexpr char separator = '|';

std::string_view word_for(KeySource::Kind kind) noexcept {
    switch (kind) {
    case KeySource::Kind::client_ip:
        return "client_ip";
    case KeySource::Kind::header:
        return "header:";
    case KeySource::Kind::cookie:
        return "cookie:";
    case KeySource::Kind::query:
        return "query:";
    case KeySource::Kind::host:
        return "host";
    case KeySource::Kind::path:
        return "path";
    case KeySource::Kind::method:
        return "method";
    case KeySource::Kind::route:
        return "route";
    case KeySource::Kind::jwt:
        return "jwt:";
    case KeySource::Kind::tls_subject:
        return "tls:subject";
    case KeySource::Kind::permit_key:
        return "permit_key";
    }
    return {};
}

bool needs_escape(char c) noexcept {
    return c == '%' || c == separator;
}

// Escapes "%" and "|" in place, in the part of `text` from `begin` on.
void escape_from(std::string& text, std::size_t begin) {
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto escapes = static_cast<std::size_t>(std::count_if(from, text.end(), needs_escape));
    if (escapes == 0)
        return;
    std::size_t read = text.size();
    text.resize(text.size() + 2 * escapes);
    for (std::size_t write = text.size(); write > read;) {
        const char c = text[--read];
        if (!needs_escape(c)) {
            text[--write] = c;
            continue;
        }
        write -= 3;
        text.replace(write, 3, c == '%' ? "%25" : "%7C");
    }
}

// Returns the method in upper case: some servers take "get" for GET, so both must have one key.
std::string_view in_upper_case(std::string_view method, std::string& scratch) {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (std::none_of(method.begin(), method.end(), is_lower)) [[likely]]
        return method;
    const std::size_t begin = scratch.size();
    for (const char c : method)
        scratch += is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    return std::string_view{scratch}.substr(begin);
}

// Returns the value of any source but client_ip, or "" if it is missing. The value is a view of the
// request if it occurs there verbatim, else of the text appended to `scratch`.
std::string_view value_of(const KeySource& source, const KeyFacts& facts, std::string& scratch) {
    switch (source.kind) {
    case KeySource::Kind::client_ip:
        break; // depends on the template's prefixes
    case KeySource::Kind::header:
        return header_value(facts.fields, source.name, scratch);
    case KeySource::Kind::cookie:
        return cookie_value(facts.fields, source.name);
    case KeySource::Kind::query:
        return query_value(facts.query, source.name, scratch);
    case KeySource::Kind::host:
        return facts.host;
    case KeySource::Kind::path:
        return facts.path;
    case KeySource::Kind::method:
        return in_upper_case(facts.method, scratch);
    case KeySource::Kind::route:
        return facts.route;
    case KeySource::Kind::jwt:
        return jwt_claim(facts.fields, source.name, scratch);
    case KeySource::Kind::tls_subject:
        return facts.tls_subject;
    case KeySource::Kind::permit_key:
        break;
    }
    return {};
}

Key missing_key(const KeyFacts& facts) noexcept {
    return {facts.hasher({}), {}, true};
}

} // namespace

KeyTemplate::KeyTemplate(
    std::vector<KeySource> sources, AddressPrefixes prefixes, MissingPart missing_part)
    : sources_{std::move(sources)}, prefixes_{prefixes}, missing_part_{missing_part} {}

std::string KeyTemplate::text() const {
    std::string text;
    for (const KeySource& source : sources_) {
        if (!text.empty())
            text += separator;
        text.append(word_for(source.kind)).append(source.name);
        if (source.kind == KeySource::Kind::client_ip && prefixes_ != AddressPrefixes{})
            text.append("(")
                .append(std::to_string(prefixes_.ipv4))
                .append(",")
                .append(std::to_string(prefixes_.ipv6))
                .append(")");
    }
    return text;
}

Key KeyTemplate::evaluate(const KeyFacts& facts, std::string& scratch) const {
    if (sources_.empty())
        return {};
    if (of_client_alone())
        return of_client(facts, scratch);
    scratch.clear();
    if (sources_.size() > 1)
        return of_several(facts, scratch);
    const std::string_view value = value_of(sources_.front(), facts, scratch);
    if (value.empty())
        return missing_key(facts);
    return {facts.hasher(value), value, false};
}

Key KeyTemplate::of_client(const KeyFacts& facts, std::string& scratch) const {
    const ClientAddress& client = facts.client;
    const bool missing = client.address().empty();
    if (prefixes_ == AddressPrefixes{} || missing) [[likely]]
        return {client.network_hash(), client.network_text(), missing};
    const Cidr network = prefixes_.network_of(client.address());
    scratch = IpText{network}.view();
    return {facts.hasher(network.address.bytes()), scratch, false};
}

Key KeyTemplate::of_several(const KeyFacts& facts, std::string& scratch) const {
    std::size_t missing = 0;
    for (const KeySource& source : sources_) {
        if (&source != &sources_.front())
            scratch += separator;
        const std::size_t begin = scratch.size();
        if (source.kind == KeySource::Kind::client_ip) {
            scratch += IpText{prefixes_.network_of(facts.client.address())}.view();
        } else {
            const std::string_view value = value_of(source, facts, scratch);
            const bool in_scratch = scratch.size() > begin;
            if (!in_scratch)
                scratch += value;
        }
        if (scratch.size() == begin) [[unlikely]] {
            ++missing;
            if (missing_part_ == MissingPart::loses_key || missing == sources_.size())
                return missing_key(facts);
        }
        escape_from(scratch, begin);
    }
    return {facts.hasher(scratch), scratch, false};
}

std::optional<Cidr> KeyTemplate::client_network(std::string_view text) const {
    const auto network = Cidr::parse(text);
    if (!network)
        return std::nullopt;
    const Cidr counted = prefixes_.network_of(network->address);
    // A network wider than the configured prefix has many keys, not one.
    return network->prefix < counted.prefix ? std::nullopt : std::optional{counted};
}

std::optional<Hash128> KeyTemplate::hash_of(std::string_view text, const KeyHasher& hasher) const {
    if (sources_.empty())
        return Hash128{};
    if (!of_client_alone() || text.empty())
        return hasher(text);
    const auto network = client_network(text);
    return network ? std::optional{hasher(network->address.bytes())} : std::nullopt;
}

std::optional<std::string> KeyTemplate::canonical(std::string_view text) const {
    if (!of_client_alone() || text.empty())
        return std::string{text};
    const auto network = client_network(text);
    return network ? std::optional{std::string{IpText{*network}.view()}} : std::nullopt;
}

} // namespace stint::routing
