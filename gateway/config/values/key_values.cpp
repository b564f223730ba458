#include "config/values/key_values.hpp"

#include "config/values/match_values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

using Kind = KeySource::Kind;

struct Word {
    std::string_view text; // ends in a colon if a name follows
    Kind kind;
    std::string_view a_name; // a description of the name; empty if no name follows
    std::string_view example;
};

constexpr std::array<Word, 11> words{{
    {"client_ip", Kind::client_ip, "", ""},
    {"header:", Kind::header, "the name of a header", "header:X-Api-Key"},
    {"cookie:", Kind::cookie, "the name of a cookie", "cookie:session"},
    {"query:", Kind::query, "the name of a parameter", "query:api_key"},
    {"host", Kind::host, "", ""},
    {"path", Kind::path, "", ""},
    {"method", Kind::method, "", ""},
    {"route", Kind::route, "", ""},
    {"jwt:", Kind::jwt, "the name of a claim", "jwt:sub"},
    {"tls:subject", Kind::tls_subject, "", ""},
    {"permit_key", Kind::permit_key, "", ""},
}};

const Word& word_for(Kind kind) {
    return *std::find_if(
        words.begin(), words.end(), [&](const Word& word) { return word.kind == kind; });
}

// The name of a key source in another program, and Stint's source. A name that ends in "_" is a
// prefix: the text behind it is appended to `source`.
struct ForeignSource {
    std::string_view name;
    std::string_view source;
};

constexpr std::array<ForeignSource, 19> foreign_sources{{
    {"ip", "client_ip"},
    {"addr", "client_ip"},
    {"client", "client_ip"},
    {"remote_addr", "client_ip"},
    {"remote_address", "client_ip"},
    {"remote_ip", "client_ip"},
    {"source_ip", "client_ip"},
    {"src", "client_ip"},
    {"binary_remote_addr", "client_ip"},
    {"sourceCriterion", "client_ip"},
    {"uri", "path"},
    {"request_uri", "path"},
    {"url", "path"},
    {"request_method", "method"},
    {"http_host", "host"},
    {"ssl_client_s_dn", "tls:subject"},
    {"http_", "header:"},
    {"cookie_", "cookie:"},
    {"arg_", "query:"},
}};

// Returns the key source that a text in another program's spelling stands for; "" if there is none.
// A word with a hyphen is taken for the name of a header.
std::string meant_source(std::string_view text) {
    const bool variable = text.starts_with('$');
    std::string_view name = text.substr(variable ? 1 : 0);
    for (const ForeignSource& each : foreign_sources) {
        if (!each.name.ends_with('_')) {
            if (name == each.name)
                return std::string{each.source};
        } else if (variable && name.starts_with(each.name) && name.size() > each.name.size()) {
            std::string rest{name.substr(each.name.size())};
            if (each.source == "header:")
                std::replace(rest.begin(), rest.end(), '_', '-');
            return std::string{each.source} + rest;
        }
    }
    const bool is_field = !variable && is_token(text) &&
                          (text.find('-') != std::string_view::npos || text == "Authorization");
    return is_field ? "header:" + std::string{text} : std::string{};
}

// Returns the error for an unknown key source, with a suggestion if a known one is similar.
ParseError unknown(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind =
        colon == std::string_view::npos ? text : text.substr(0, colon + 1);
    std::array<std::string_view, words.size()> known;
    std::transform(
        words.begin(), words.end(), known.begin(), [](const Word& word) { return word.text; });
    std::string_view meant = nearest(kind, known);
    if (meant.empty())
        meant = nearest(text, known); // tls:subject contains a colon itself
    std::string why = in_quotes(text) + " is not a key";
    const std::string foreign = meant.empty() ? meant_source(text) : std::string{};
    if (!foreign.empty())
        return ParseError{why + "; did you mean " + in_quotes(foreign) + '?'};
    if (meant.empty())
        return ParseError{
            why + "; expected client_ip, header:NAME, cookie:NAME, query:NAME, host, path, method, "
                  "route, jwt:CLAIM, tls:subject or a list of these (or permit_key, of permits)"};
    std::string whole{meant};
    if (meant.ends_with(':'))
        whole += colon == std::string_view::npos ? "NAME" : text.substr(colon + 1);
    return ParseError{why + "; did you mean " + in_quotes(whole) + '?'};
}

bool good_name(Kind kind, std::string_view name) {
    if (kind == Kind::header || kind == Kind::cookie)
        return is_token(name);
    return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
}

} // namespace

Parsed<KeySource> parse_key_source(std::string_view text) {
    const auto word = std::find_if(words.begin(), words.end(), [&](const Word& each) {
        return each.a_name.empty() ? text == each.text : text.starts_with(each.text);
    });
    if (word == words.end())
        return unknown(text);
    const std::string_view name = text.substr(word->text.size());
    if (!word->a_name.empty() && !good_name(word->kind, name))
        return ParseError{
            in_quotes(text) + " is not a key; expected " + std::string{word->a_name} +
            ", such as " + std::string{word->example}};
    return KeySource{word->kind, word->kind == Kind::header ? lower(name) : std::string{name}};
}

std::string to_text(const KeySource& source) {
    return std::string{word_for(source.kind).text} + source.name;
}

} // namespace stint::config
