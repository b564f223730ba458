// Splits the text of an nginx configuration into words, as nginx does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::import_nginx {

struct Token {
    enum class Kind : std::uint8_t { word, semicolon, open, close, end, fault };

    Kind kind = Kind::end;
    std::string text; // a word without quotes and escapes; or the fault
    std::size_t line = 1;
    std::size_t column = 1; // counts characters
};

// Quotes open a text only at the beginning of a word, "#" a comment only there, and "${" is part of
// a word. A backslash keeps the character behind it in the word; \" \' \\ \t \r \n are replaced.
class Tokenizer {
  public:
    // text: outlives this.
    explicit Tokenizer(std::string_view text);

    // Returns the next token. After Kind::end and Kind::fault it returns the same again.
    [[nodiscard]] Token next();

    // Skips Lua code up to the brace that closes it, which next() returns then. Requires that the
    // last token was Kind::open. Without such a brace next() returns Kind::end.
    void skip_lua();

  private:
    [[nodiscard]] bool at_end() const noexcept { return at_ >= text_.size(); }
    [[nodiscard]] char peek() const noexcept { return text_[at_]; }
    [[nodiscard]] bool starts_with(std::string_view what) const noexcept;
    void advance();
    void skip_blanks();
    void skip_line();
    void skip_lua_text(char quote);
    bool skip_lua_long_text();
    void read_escape(std::string& word);
    void read_quoted(Token& token);
    void read_plain(Token& token);

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    std::size_t column_ = 1;
};

} // namespace stint::import_nginx
