#include "config/yaml/brackets.hpp"

#include <algorithm>

namespace stint::config {

namespace {

constexpr std::string_view blank_or_end = " \t\r\n";

class BracketScanner {
  public:
    BracketScanner(std::string_view text, std::size_t stop) : text_(text), stop_(stop) {}

    Brackets scan() {
        while (at_ < text_.size()) {
            if (at_ >= stop_ && !stopped_)
                note_stop();
            step();
        }
        if (!stopped_)
            note_stop();
        found_.open_at_end = open_;
        return std::move(found_);
    }

  private:
    void note_stop() {
        stopped_ = true;
        found_.open_at_stop = open_;
    }

    [[nodiscard]] bool blank_at(std::size_t i) const {
        return i >= text_.size() || blank_or_end.find(text_[i]) != std::string_view::npos;
    }

    void step() {
        const char c = text_[at_];
        if (c == '\n')
            begins_ = true;
        else if (c == '#' && (at_ == 0 || blank_at(at_ - 1)))
            at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
        else if (begins_ && (c == '"' || c == '\''))
            return skip_quotes();
        else if (begins_ && open_.empty() && (c == '|' || c == '>'))
            return skip_block();
        else if ((begins_ || !open_.empty()) && (c == '[' || c == '{'))
            push(c);
        else if ((begins_ || !open_.empty()) && (c == ']' || c == '}'))
            close(c);
        else if (!blank_at(at_))
            begins_ = ends_token(c);
        ++at_;
    }

    // Returns true if another token may begin behind the character.
    [[nodiscard]] bool ends_token(char c) const {
        if (c == ',')
            return !open_.empty();
        const bool separates = blank_at(at_ + 1);
        return separates && (c == ':' || (begins_ && (c == '-' || c == '?')));
    }

    void push(char c) {
        open_.push_back({c, at_});
        begins_ = true;
    }

    void close(char c) {
        const char opener = c == ']' ? '[' : '{';
        begins_ = open_.size() <= 1; // so that step() notices one closing bracket too many
        if (!open_.empty() && open_.back().character == opener)
            return open_.pop_back();
        if (found_.wrong)
            return;
        found_.wrong = Bracket{c, at_};
        if (!open_.empty())
            found_.opened = open_.back();
    }

    void skip_quotes() {
        const std::size_t begin = at_;
        at_ = std::min(end_of_quotes(text_, begin), text_.size());
        begins_ = false;
        if (at_ <= stop_) {
            found_.quote_begin = begin;
            found_.quote_end = at_;
        }
    }

    // Skips a block of text (| or >): the lines that are indented deeper than its key's line.
    void skip_block() {
        const std::size_t line = text_.rfind('\n', at_) + 1; // 0 on the first line: npos + 1 is 0
        const std::size_t indent = text_.find_first_not_of(' ', line) - line;
        std::size_t next = std::min(text_.find('\n', at_), text_.size());
        while (next < text_.size()) {
            const std::size_t begin = text_.find_first_not_of(' ', next + 1);
            const bool inside = begin == std::string_view::npos || text_[begin] == '\n' ||
                                text_[begin] == '\r' || begin - next - 1 > indent;
            if (!inside)
                break;
            next = std::min(text_.find('\n', next + 1), text_.size());
        }
        at_ = next;
    }

    std::string_view text_;
    std::size_t stop_;
    std::size_t at_ = 0;
    bool begins_ = true; // a token may begin here
    bool stopped_ = false;
    std::vector<Bracket> open_;
    Brackets found_;
};

} // namespace

Brackets find_brackets(std::string_view text, std::size_t stop) {
    return BracketScanner{text, stop}.scan();
}

std::size_t end_of_quotes(std::string_view text, std::size_t begin) {
    const char quote = text[begin];
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (text[i] == '\\' && quote == '"')
            ++i;
        else if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == quote)
            ++i;
        else if (text[i] == quote)
            return i + 1;
    }
    return std::string_view::npos;
}

} // namespace stint::config
