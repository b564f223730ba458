#include "import/syntax/tokenizer.hpp"

#include "config/yaml/diagnostics.hpp"

namespace stint::import_nginx {

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_blank(char c) noexcept {
    return blanks.find(c) != std::string_view::npos;
}

} // namespace

Tokenizer::Tokenizer(std::string_view text) : text_{text} {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark))
        text_.remove_prefix(byte_order_mark.size());
}

bool Tokenizer::starts_with(std::string_view what) const noexcept {
    return text_.substr(at_).starts_with(what);
}

void Tokenizer::advance() {
    const auto c = static_cast<unsigned char>(text_[at_++]);
    if (c == '\n') {
        ++line_;
        column_ = 1;
    } else if ((c & 0xC0U) != 0x80U) { // not the continuation of a UTF-8 character
        ++column_;
    }
}

void Tokenizer::skip_line() {
    while (!at_end() && peek() != '\n')
        advance();
}

void Tokenizer::skip_blanks() {
    while (!at_end() && (is_blank(peek()) || peek() == '#')) {
        if (peek() == '#')
            skip_line();
        else
            advance();
    }
}

Token Tokenizer::next() {
    skip_blanks();
    Token token{.kind = Token::Kind::end, .text = {}, .line = line_, .column = column_};
    if (at_end())
        return token;
    const char c = peek();
    if (c == ';' || c == '{' || c == '}') {
        token.kind = c == ';'   ? Token::Kind::semicolon
                     : c == '{' ? Token::Kind::open
                                : Token::Kind::close;
        advance();
        return token;
    }
    token.kind = Token::Kind::word;
    if (c == '"' || c == '\'')
        read_quoted(token);
    else
        read_plain(token);
    return token;
}

// Reads a backslash and the character behind it.
void Tokenizer::read_escape(std::string& word) {
    advance();
    if (at_end())
        return void(word += '\\');
    const char c = peek();
    advance();
    switch (c) {
    case '"':
    case '\'':
    case '\\':
        word += c;
        return;
    case 't':
        word += '\t';
        return;
    case 'r':
        word += '\r';
        return;
    case 'n':
        word += '\n';
        return;
    default:
        word += '\\';
        word += c;
    }
}

void Tokenizer::read_quoted(Token& token) {
    const char quote = peek();
    const Tokenizer begin = *this;
    for (advance(); !at_end() && peek() != quote;) {
        if (peek() == '\\') {
            read_escape(token.text);
        } else {
            token.text += peek();
            advance();
        }
    }
    if (at_end()) {
        *this = begin; // stays at the fault
        token.kind = Token::Kind::fault;
        token.text = std::string{"found the end of the file in a text that begins with "} + quote +
                     " here, expected " + quote + " at its end";
        return;
    }
    advance();
    if (at_end() || is_blank(peek()) ||
        std::string_view{";{)"}.find(peek()) != std::string_view::npos)
        return;
    token = {.kind = Token::Kind::fault, .text = {}, .line = line_, .column = column_};
    token.text = "found " + config::in_quotes(text_.substr(at_, 1)) +
                 " right behind a quoted text, expected a blank, \";\" or \"{\"";
    *this = begin;
}

void Tokenizer::read_plain(Token& token) {
    bool variable = false; // the last character was a "$"
    while (!at_end()) {
        const char c = peek();
        if (is_blank(c) || c == ';' || (c == '{' && !variable))
            return;
        variable = c == '$';
        if (c == '\\') {
            read_escape(token.text);
            continue;
        }
        token.text += c;
        advance();
    }
}

void Tokenizer::skip_lua_text(char quote) {
    for (advance(); !at_end() && peek() != quote; advance())
        if (peek() == '\\' && at_ + 1 < text_.size())
            advance();
    if (!at_end())
        advance();
}

// Skips [[...]] or [==[...]==]. Returns false if none begins here.
bool Tokenizer::skip_lua_long_text() {
    std::size_t level = 0;
    while (at_ + 1 + level < text_.size() && text_[at_ + 1 + level] == '=')
        ++level;
    if (at_ + 1 + level >= text_.size() || text_[at_ + 1 + level] != '[')
        return false;
    const std::string closing = ']' + std::string(level, '=') + ']';
    while (!at_end() && !starts_with(closing))
        advance();
    for (std::size_t i = 0; i < closing.size() && !at_end(); ++i)
        advance();
    return true;
}

void Tokenizer::skip_lua() {
    for (std::size_t depth = 0; !at_end();) {
        const char c = peek();
        if (c == '}' && depth == 0)
            return;
        if (starts_with("--")) {
            advance();
            advance();
            if (at_end() || peek() != '[' || !skip_lua_long_text())
                skip_line();
        } else if (c == '"' || c == '\'') {
            skip_lua_text(c);
        } else if (c != '[' || !skip_lua_long_text()) {
            depth += c == '{' ? 1U : 0U;
            depth -= c == '}' ? 1U : 0U;
            advance();
        }
    }
}

} // namespace stint::import_nginx
