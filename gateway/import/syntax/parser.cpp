#include "import/syntax/parser.hpp"

#include "config/yaml/diagnostics.hpp"
#include "import/syntax/tokenizer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace stint::import_nginx {

std::string Place::text() const {
    return *file + ':' + std::to_string(line) + ':' + std::to_string(column);
}

std::string Directive::text() const {
    std::string text = name;
    for (const std::string& argument : args)
        text += ' ' + argument;
    return text + " (" + at.text() + ")";
}

std::string SyntaxFault::text() const {
    return at.text() + ": " + message;
}

namespace {

using config::in_quotes;

std::string shown(const Token& token) {
    switch (token.kind) {
    case Token::Kind::semicolon:
        return "\";\"";
    case Token::Kind::open:
        return "\"{\"";
    case Token::Kind::close:
        return "\"}\"";
    case Token::Kind::end:
        return "the end of the file";
    case Token::Kind::word:
    case Token::Kind::fault:
        break;
    }
    return in_quotes(token.text);
}

class Parser {
  public:
    explicit Parser(const Sources& sources) : sources_{sources} {}

    // Parses one file, whose directives are appended to `into`. Returns false after a fault.
    bool parse_file(const std::string& name, std::string_view text, std::vector<Directive>& into);

    [[nodiscard]] SyntaxFault& fault() noexcept { return *fault_; }
    [[nodiscard]] std::vector<MissingFile>& missing() noexcept { return missing_; }

  private:
    struct File {
        std::shared_ptr<const std::string> name;
        Tokenizer tokens;

        [[nodiscard]] Place place(const Token& token) const {
            return {name, token.line, token.column};
        }
    };

    bool stop(Place at, std::string message);
    bool parse_directives(File& file, std::vector<Directive>& into, const Directive* around);
    bool parse_directive(File& file, const Token& first, std::vector<Directive>& into);
    bool end_directive(File& file, const Token& last, Directive made, std::vector<Directive>& into);
    bool parse_block(File& file, Directive& made);
    bool include(const Directive& directive, std::vector<Directive>& into);
    bool include_file(const Directive& by, const std::string& path, std::vector<Directive>& into);

    const Sources& sources_;
    std::optional<SyntaxFault> fault_;
    std::vector<MissingFile> missing_;
    std::vector<std::string> open_; // files that are being read, the main file first
    std::size_t level_ = 0;
    std::size_t bytes_ = 0;
    std::size_t files_ = 0;
    std::size_t directives_ = 0;
};

bool Parser::stop(Place at, std::string message) {
    fault_ = SyntaxFault{std::move(at), std::move(message)};
    return false;
}

bool Parser::parse_file(
    const std::string& name, std::string_view text, std::vector<Directive>& into) {
    File file{std::make_shared<const std::string>(name), Tokenizer{text}};
    const Place begin{file.name, 1, 1};
    bytes_ += text.size();
    if (++files_ > most_files)
        return stop(begin, "found one more file, expected at most " + std::to_string(most_files));
    if (text.size() > most_file_bytes || bytes_ > most_bytes)
        return stop(
            begin, "found " + std::to_string(text.size()) + " bytes, expected at most " +
                       std::to_string(most_file_bytes) + " in a file and " +
                       std::to_string(most_bytes) + " in all");
    if (text.find('\0') != std::string_view::npos)
        return stop(begin, "found a NUL byte, expected the text of an nginx configuration");
    open_.push_back(name);
    const bool whole = parse_directives(file, into, nullptr);
    open_.pop_back();
    return whole;
}

// around: the directive whose block is read; null in a file.
bool Parser::parse_directives(File& file, std::vector<Directive>& into, const Directive* around) {
    for (;;) {
        const Token token = file.tokens.next();
        switch (token.kind) {
        case Token::Kind::fault:
            return stop(file.place(token), token.text);
        case Token::Kind::close:
            if (around != nullptr)
                return true;
            return stop(
                file.place(token), "found \"}\" where no block is open, expected a directive");
        case Token::Kind::end:
            if (around == nullptr)
                return true;
            return stop(
                file.place(token), "found the end of the file, expected \"}\" for the block " +
                                       in_quotes(around->name) + " of line " +
                                       std::to_string(around->at.line));
        case Token::Kind::semicolon:
        case Token::Kind::open:
            return stop(file.place(token), "found " + shown(token) + ", expected a directive");
        case Token::Kind::word:
            if (!parse_directive(file, token, into))
                return false;
        }
    }
}

bool Parser::parse_directive(File& file, const Token& first, std::vector<Directive>& into) {
    Directive made;
    made.name = first.text;
    made.at = file.place(first);
    if (++directives_ > most_directives)
        return stop(
            made.at,
            "found one more directive, expected at most " + std::to_string(most_directives));
    for (;;) {
        const Token token = file.tokens.next();
        if (token.kind == Token::Kind::fault)
            return stop(file.place(token), token.text);
        if (token.kind != Token::Kind::word)
            return end_directive(file, token, std::move(made), into);
        made.args.push_back(token.text);
    }
}

bool Parser::end_directive(
    File& file, const Token& last, Directive made, std::vector<Directive>& into) {
    switch (last.kind) {
    case Token::Kind::semicolon:
        if (made.name == "include")
            return include(made, into);
        break;
    case Token::Kind::open:
        made.has_block = true;
        if (!parse_block(file, made))
            return false;
        break;
    default:
        return stop(
            file.place(last), "found " + shown(last) + ", expected \";\" or \"{\" behind " +
                                  in_quotes(made.name) + " of line " +
                                  std::to_string(made.at.line));
    }
    into.push_back(std::move(made));
    return true;
}

bool Parser::parse_block(File& file, Directive& made) {
    if (++level_ > most_levels)
        return stop(
            made.at, "found a block within " + std::to_string(most_levels) +
                         " others, expected at most " + std::to_string(most_levels) + " levels");
    if (made.name.ends_with("_by_lua_block"))
        file.tokens.skip_lua();
    const bool whole = parse_directives(file, made.block, &made);
    --level_;
    return whole;
}

bool Parser::include(const Directive& directive, std::vector<Directive>& into) {
    if (directive.args.size() != 1)
        return stop(
            directive.at, "found " + std::to_string(directive.args.size()) +
                              " arguments of include, expected one file or pattern");
    std::string path = directive.args.front();
    if (!path.starts_with('/'))
        path = sources_.folder + '/' + path;
    if (path.find_first_of("*?[") == std::string::npos)
        return include_file(directive, path, into);
    const FoundFiles found = sources_.find(path);
    if (!found.fault.empty() || found.paths.empty())
        missing_.push_back({directive.at, path, found.fault});
    return std::ranges::all_of(
        found.paths, [&](const std::string& one) { return include_file(directive, one, into); });
}

bool Parser::include_file(
    const Directive& by, const std::string& path, std::vector<Directive>& into) {
    if (std::ranges::find(open_, path) != open_.end())
        return stop(
            by.at, "found an include of " + in_quotes(path) + " in itself, expected another file");
    if (open_.size() > most_includes)
        return stop(
            by.at, "found an include within " + std::to_string(most_includes) +
                       " others, expected at most " + std::to_string(most_includes) + " levels");
    const FileText text = sources_.read(path);
    if (!text.fault.empty()) {
        missing_.push_back({by.at, path, text.fault});
        return true;
    }
    return parse_file(path, text.bytes, into);
}

} // namespace

Result<Parsed, SyntaxFault>
parse(std::string_view text, const std::string& file, const Sources& sources) {
    Parser parser{sources};
    Parsed parsed;
    if (!parser.parse_file(file, text, parsed.directives))
        return std::move(parser.fault());
    parsed.missing = std::move(parser.missing());
    return parsed;
}

} // namespace stint::import_nginx
