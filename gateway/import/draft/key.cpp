#include "import/draft/key.hpp"

#include "config/values/bounds.hpp"
#include "config/values/match_values.hpp"
#include "config/values/networks.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace stint::import_nginx {

namespace {

struct Variable {
    std::string_view name;
    std::string_view source;
    std::string_view note{};
    bool may_be_empty = false;
};

constexpr std::string_view spellings =
    "nginx counts each spelling of the host, with its letter case and port, by itself";
constexpr std::array variables{
    Variable{"binary_remote_addr", "client_ip"},
    Variable{"remote_addr", "client_ip"},
    Variable{"host", "host"},
    Variable{"http_host", "host", spellings},
    Variable{"uri", "path", "paths are compared in Stint's normal form"},
    Variable{"document_uri", "path", "paths are compared in Stint's normal form"},
    Variable{"request_method", "method"},
    Variable{"ssl_client_s_dn", "tls:subject", {}, true},
};

// Variables with a name in them: "http_x_api_key" is the header X-Api-Key.
struct Family {
    std::string_view prefix;
    std::string_view source;
    std::string_view note;
};
constexpr std::array families{
    Family{"http_", "header:", {}},
    Family{"cookie_", "cookie:", "nginx does not look at the letter case of a cookie's name"},
    Family{
        "arg_",
        "query:", "nginx does not decode the parameter, and ignores its name's letter case"},
};

std::optional<Variable> known_variable(std::string_view name, std::string& storage) {
    const auto* const found = std::ranges::find(variables, name, &Variable::name);
    if (found != variables.end())
        return *found;
    for (const Family& family : families) {
        if (!name.starts_with(family.prefix) || name.size() == family.prefix.size())
            continue;
        std::string rest = config::lower(name.substr(family.prefix.size()));
        if (family.source == "header:")
            std::ranges::replace(rest, '_', '-');
        storage = std::string{family.source} + rest;
        return Variable{name, storage, family.note, true};
    }
    return std::nullopt;
}

// A text for each network, and one for all other addresses.
struct ByNetwork {
    std::string other;
    std::vector<std::pair<std::string, std::string>> entries;
};

const Table* find_table(const Model& model, std::string_view variable) {
    const auto found = model.tables.find(std::string{variable});
    return found == model.tables.end() ? nullptr : &found->second;
}

std::string looked_up(const Table& map, const std::string& value) {
    const auto found =
        std::ranges::find(map.entries, value, [](const auto& one) { return one.first; });
    return found == map.entries.end() ? map.other.value_or("") : found->second;
}

// True for a map with regular expressions, which looked_up() does not match.
bool has_regex(const Table& map) {
    return std::ranges::any_of(
        map.entries, [](const auto& entry) { return entry.first.starts_with('~'); });
}

// True for a geo, and for a map of the client's address. A map compares texts: "10.0.0.0/8" is the
// text of no address, and the bytes of $binary_remote_addr are not that of one.
bool is_by_client(const Table& table) {
    return table.source == "$remote_addr" &&
           (table.by_address || std::ranges::none_of(table.entries, [](const auto& entry) {
                return entry.first.find('/') != std::string::npos;
            }));
}

bool is_network(const std::string& text) {
    return static_cast<bool>(config::parse_network(text));
}

// Returns the texts by network of a geo, of a map of the client's address, or of a map of a geo.
std::optional<ByNetwork> by_network(const Model& model, const Table& table) {
    ByNetwork made;
    if (is_by_client(table)) {
        made = {table.other.value_or(""), table.entries};
    } else {
        const auto pieces = pieces_of(table.source);
        const Table* const geo =
            pieces.size() == 1 && pieces[0].variable ? find_table(model, pieces[0].text) : nullptr;
        if (geo == nullptr || !is_by_client(*geo) || has_regex(table))
            return std::nullopt;
        made.other = looked_up(table, geo->other.value_or(""));
        for (const auto& [network, value] : geo->entries)
            made.entries.emplace_back(network, looked_up(table, value));
    }
    const bool networks =
        std::ranges::all_of(made.entries, [](const auto& one) { return is_network(one.first); });
    return networks ? std::optional{made} : std::nullopt;
}

bool lies_within(const std::string& inner, const std::string& outer) {
    const auto small = config::parse_network(inner);
    const auto large = config::parse_network(outer);
    return small && large && (*small).prefix > (*large).prefix &&
           (*large).contains((*small).address);
}

// Returns true if a network with a key lies within one without.
bool has_islands(const ByNetwork& texts) {
    for (const auto& [inner, key] : texts.entries)
        for (const auto& [outer, none] : texts.entries)
            if (!key.empty() && none.empty() && lies_within(inner, outer))
                return true;
    return false;
}

constexpr unsigned most_tables = 4; // that refer to one another

Key key_at(std::string_view text, const Model& model, std::string_view server, unsigned depth);

// Translates the key that a map or geo gives: one key for all addresses but some, which it exempts.
Key key_of_table(
    const Model& model,
    const Table& table,
    std::string_view variable,
    std::string_view server,
    unsigned depth) {
    Key key;
    const std::string name = "$" + std::string{variable};
    const auto texts = by_network(model, table);
    if (!texts || texts->other.empty() || has_islands(*texts)) {
        key.fault = name + " depends on more than networks that are exempt";
        return key;
    }
    for (const auto& [network, text] : texts->entries)
        if (!text.empty() && text != texts->other)
            key.fault = name + " is not the same key for all networks";
    if (!key.fault.empty())
        return key;
    key = key_at(texts->other, model, server, depth + 1);
    for (const auto& [network, text] : texts->entries)
        if (text.empty())
            key.exempt.push_back(network);
    return key;
}

void add_variable(Key& key, std::string_view name, bool& always) {
    std::string storage;
    const auto variable = known_variable(name, storage);
    if (!variable) {
        key.fault = "Stint has no source of keys like $" + std::string{name};
        return;
    }
    always = always || !variable->may_be_empty;
    if (std::ranges::find(key.sources, variable->source) == key.sources.end())
        key.sources.emplace_back(variable->source);
    if (!variable->note.empty())
        key.notes.emplace_back(variable->note);
}

// Adds all parts of a key. Returns true if the key is never empty.
bool add_pieces(Key& key, const std::vector<Piece>& pieces, std::string_view server) {
    bool always = false;
    for (const Piece& piece : pieces) {
        if (!piece.variable) {
            always = true;
        } else if (piece.text == "server_name") {
            key.per_server = true;
            always = always || !server.empty();
        } else {
            add_variable(key, piece.text, always);
        }
    }
    return always;
}

Key key_at(std::string_view text, const Model& model, std::string_view server, unsigned depth) {
    Key key;
    const std::vector<Piece> pieces = pieces_of(text);
    const Table* const table =
        pieces.size() == 1 && pieces[0].variable ? find_table(model, pieces[0].text) : nullptr;
    if (table != nullptr && depth < most_tables)
        return key_of_table(model, *table, pieces[0].text, server, depth);
    const bool always = add_pieces(key, pieces, server);
    if (key.sources.size() > config::most_key_sources)
        key.fault = "the key has more than " + std::to_string(config::most_key_sources) + " parts";
    key.always_empty = !always && key.sources.empty();
    // nginx does not count an empty key, and counts one with empty parts.
    if (!always && !key.sources.empty())
        key.missing = key.sources.size() == 1 ? "exempt" : "partial";
    else if (key.sources.size() > 1)
        key.missing = "partial";
    return key;
}

} // namespace

Key key_of(std::string_view text, const Model& model, std::string_view server) {
    return key_at(text, model, server, 0);
}

} // namespace stint::import_nginx
