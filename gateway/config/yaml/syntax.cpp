#include "config/yaml/syntax.hpp"

#include "config/values/text_check.hpp"
#include "config/yaml/brackets.hpp"
#include "config/yaml/diagnostics.hpp"

#include <algorithm>
#include <optional>

namespace stint::config {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view quote_it = "a text with brackets, commas or \": \" needs quotes";

struct Line {
    std::size_t begin;      // offset of the line
    std::size_t at;         // offset of its first character that is not blank
    std::string_view words; // the line from `at` on, without a comment and blanks at the end
};

Line line_at(std::string_view text, std::size_t offset) {
    const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view words = text.substr(begin, end - begin);
    if (const std::size_t comment = words.find(" #"); comment != std::string_view::npos)
        words = words.substr(0, comment);
    const std::size_t indent = std::min(words.find_first_not_of(blanks), words.size());
    words.remove_prefix(indent);
    words = words.substr(0, words.find_last_not_of(blanks) + 1);
    if (words.starts_with('#'))
        words = {};
    return {begin, begin + indent, words};
}

// Returns the last line before `line` that is neither empty nor a comment.
std::optional<Line> line_before(std::string_view text, Line line) {
    while (line.begin > 0) {
        line = line_at(text, line.begin - 1);
        if (!line.words.empty())
            return line;
    }
    return std::nullopt;
}

// Removes the dashes of list items from the beginning.
Line without_dashes(Line line) {
    while (line.words.starts_with("- ")) {
        const std::size_t next = std::min(line.words.find_first_not_of(" ", 1), line.words.size());
        line.words.remove_prefix(next);
        line.at += next;
    }
    return line;
}

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view first_word(std::string_view words) {
    const auto end = std::ranges::find_if_not(
        words, [](char c) { return is_word_character(c) || (c >= '0' && c <= '9'); });
    const bool is_word = !words.empty() && is_word_character(words.front());
    return is_word ? words.substr(0, static_cast<std::size_t>(end - words.begin()))
                   : std::string_view{};
}

class SyntaxExplainer {
  public:
    SyntaxExplainer(std::string_view text, std::size_t stop)
        : text_(text), stop_(std::min(stop, text.size())), line_(line_at(text, stop_)),
          brackets_(find_brackets(text, stop_)) {}

    SyntaxFault explain(std::string_view reason) {
        for (const auto cause :
             {&SyntaxExplainer::special_character, &SyntaxExplainer::tab,
              &SyntaxExplainer::variable, &SyntaxExplainer::long_quotes,
              &SyntaxExplainer::wrong_bracket, &SyntaxExplainer::open_bracket,
              &SyntaxExplainer::missing_colon, &SyntaxExplainer::second_colon,
              &SyntaxExplainer::indentation})
            if (auto fault = (this->*cause)())
                return std::move(*fault);
        return {
            stop_, std::string{reason} + "; found " + in_quotes(line_.words) +
                       "; expected YAML such as \"key: value\""};
    }

  private:
    [[nodiscard]] char stopped_at() const { return stop_ < text_.size() ? text_[stop_] : '\0'; }

    std::string place(std::size_t offset) {
        const Mark mark = Positions{text_}.at(offset);
        return std::to_string(mark.line) + ':' + std::to_string(mark.column);
    }
    std::size_t column(std::size_t offset) { return Positions{text_}.at(offset).column; }

    std::optional<SyntaxFault> special_character() {
        if (text_.substr(stop_ - std::min<std::size_t>(stop_, 1), 2) == "]:")
            return SyntaxFault{
                stop_, "found text behind a ]; an address such as \"[::1]:8080\" needs quotes"};
        const char c = stopped_at();
        if (c != '*' && c != '@' && c != '`' && c != '%')
            return std::nullopt;
        return SyntaxFault{
            stop_, "found " + in_quotes(std::string_view{&c, 1}) +
                       " at the beginning of a value; a text that begins so needs quotes, such as "
                       "\"*.example.com\""};
    }

    std::optional<SyntaxFault> tab() {
        const std::string_view indent = text_.substr(line_.begin, line_.at - line_.begin);
        if (indent.find('\t') == std::string_view::npos)
            return std::nullopt;
        return SyntaxFault{stop_, "found a tab; indent with spaces, not with tabs"};
    }

    std::optional<SyntaxFault> variable() {
        if (stop_ == 0 || text_.substr(stop_ - 1, 2) != "${" || brackets_.open_at_stop.empty())
            return std::nullopt;
        return SyntaxFault{
            stop_ - 1,
            "found ${ inside brackets; a value with ${NAME} inside { } or [ ] needs quotes"};
    }

    std::optional<SyntaxFault> long_quotes() {
        const std::string_view quoted =
            text_.substr(brackets_.quote_begin, brackets_.quote_end - brackets_.quote_begin);
        const bool ends_here = brackets_.quote_end > line_.begin;
        if (!ends_here || quoted.find('\n') == std::string_view::npos)
            return std::nullopt;
        return SyntaxFault{
            brackets_.quote_begin,
            "the " + std::string{quoted.substr(0, 1)} + " that opens here is closed only at " +
                place(brackets_.quote_end - 1) + "; expected a closing one on its own line"};
    }

    std::optional<SyntaxFault> wrong_bracket() {
        const auto& wrong = brackets_.wrong;
        if (!wrong || wrong->at > std::max(stop_, line_.at + line_.words.size()))
            return std::nullopt;
        const std::string found = std::string{"found "} + wrong->character;
        if (!brackets_.opened)
            return SyntaxFault{
                wrong->at, found + " that closes nothing; remove it; " + std::string{quote_it}};
        const bool list = brackets_.opened->character == '[';
        return SyntaxFault{
            wrong->at, found + "; expected " + (list ? ']' : '}') + " first, for the " +
                           brackets_.opened->character + " that opens at " +
                           place(brackets_.opened->at) + "; " + std::string{quote_it}};
    }

    std::optional<SyntaxFault> open_bracket() {
        const auto& open = brackets_.open_at_stop;
        if (open.empty())
            return std::nullopt;
        if (!brackets_.open_at_end.empty()) {
            const Bracket& last = brackets_.open_at_end.back();
            const bool list = last.character == '[';
            return SyntaxFault{
                last.at, std::string{"the "} + last.character +
                             " that opens here is not closed; expected a " + (list ? ']' : '}')};
        }
        const Bracket& inner = open.back();
        return SyntaxFault{
            stop_, "found " + in_quotes(rest_of_line()) + " inside the " + inner.character +
                       " that opens at " + place(inner.at) +
                       "; expected a comma before a further entry; " + std::string{quote_it}};
    }

    std::string_view rest_of_line() const {
        return text_.substr(
            stop_, std::min(text_.find_first_of("\r\n", stop_), text_.size()) - stop_);
    }

    std::optional<SyntaxFault> missing_colon() {
        std::optional<Line> line = line_;
        for (int i = 0; i < 2 && line; ++i) {
            const Line content = without_dashes(*line);
            if (lacks_colon(content.words))
                return SyntaxFault{
                    content.at, in_quotes(content.words) + ' ' + colon_advice(content.words)};
            line = line_before(text_, *line);
        }
        return std::nullopt;
    }

    std::optional<SyntaxFault> second_colon() {
        const std::string_view before = text_.substr(line_.at, stop_ - std::min(stop_, line_.at));
        if (stopped_at() != ':' || before.find(": ") == std::string_view::npos)
            return std::nullopt;
        return SyntaxFault{
            stop_,
            "found a second \": \" on this line; expected one key and one value; a text with "
            "\": \" needs quotes, and a map a line for each key, or { }"};
    }

    std::optional<SyntaxFault> indentation() {
        const auto before = line_before(text_, line_);
        if (!before || before->words.ends_with(':'))
            return std::nullopt;
        const Line former = without_dashes(*before);
        const Line here = without_dashes(line_);
        const std::size_t wanted = column(former.at);
        if (first_word(former.words).empty() || column(here.at) == wanted)
            return std::nullopt;
        return SyntaxFault{
            here.at, "found " + in_quotes(first_word(here.words)) + " at column " +
                         std::to_string(column(here.at)) + "; expected column " +
                         std::to_string(wanted) + ", that of " +
                         in_quotes(first_word(former.words)) + " at " + place(former.at) +
                         ", or the column of a map around it"};
    }

    std::string_view text_;
    std::size_t stop_;
    Line line_;
    Brackets brackets_;
};

} // namespace

SyntaxFault explain_syntax(std::string_view text, std::size_t stop, std::string_view reason) {
    return SyntaxExplainer{text, stop}.explain(reason);
}

bool lacks_colon(std::string_view line) {
    const std::string_view word = first_word(line);
    if (word.empty() || line.ends_with(';') || line.ends_with('{'))
        return false; // a line in the syntax of another program, such as nginx
    const std::string_view rest = line.substr(word.size());
    if (rest.starts_with(':'))
        return rest.size() > 1 && rest[1] != ' ' && rest[1] != '\t';
    return rest.find(": ") == std::string_view::npos && !rest.ends_with(':') &&
           (rest.empty() || rest.front() == ' ' || rest.front() == '\t');
}

std::string colon_advice(std::string_view line) {
    const std::string_view word = first_word(line);
    std::string_view rest = line.substr(word.size());
    const bool has_colon = rest.starts_with(':');
    rest.remove_prefix(std::min(rest.find_first_not_of(has_colon ? ": \t" : " \t"), rest.size()));
    const std::string written = std::string{word} + (rest.empty() ? ":" : ": ") + std::string{rest};
    return (has_colon ? "has no blank after the colon; write "
                      : "has no colon after its key; write ") +
           in_quotes(written);
}

} // namespace stint::config
