#include "config/yaml/yaml_tree.hpp"

#include "config/values/text_check.hpp"
#include "config/yaml/brackets.hpp"
#include "config/yaml/syntax.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace stint::config {

namespace {

// Maximum depth of nesting. A configuration needs seven levels; the bound keeps recursion over the
// tree from overflowing the stack.
constexpr std::size_t deepest = 32;

struct Stop {}; // thrown through the parser to end parsing early

// Builds the tree from the parser's events; reports aliases, tags and other YAML features that are
// not supported.
class TreeBuilder final : public YAML::EventHandler {
  public:
    TreeBuilder(std::string_view text, Diagnostics& report)
        : text_(text), positions_(text), report_(report) {}

    [[nodiscard]] Mark place(const YAML::Mark& mark) {
        return mark.pos < 0 ? Mark{} : positions_.at(static_cast<std::size_t>(mark.pos));
    }
    [[nodiscard]] std::optional<Node> take() { return std::move(root_); }

    // Ends parsing at a second document. The parser does not always consume the text that begins
    // one, so going on could loop for ever.
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ == 1)
            return;
        report_.add(
            place(mark), "a second document; a configuration is one document: remove the line ---");
        throw Stop{};
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        attach(node(Node::Kind::null, mark));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        report_.add(place(mark), "an alias; aliases are not supported, write the value out");
        attach(node(Node::Kind::unusable, mark));
    }

    void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
        report_.add(
            place(mark), "the anchor " + in_quotes("&" + name) +
                             "; anchors are not supported, write the value out where it is needed");
    }

    void OnScalar(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t /*anchor*/,
        const std::string& value) override {
        check_tag(mark, tag);
        Node scalar = node(Node::Kind::scalar, mark);
        scalar.text = value;
        if (tag == "!")
            check_quotes(mark);
        else if (tag == "?")
            note_continuation(mark, scalar);
        attach(std::move(scalar));
    }

    void OnSequenceStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t /*anchor*/,
        YAML::EmitterStyle::value /*style*/) override {
        open(Node::Kind::sequence, mark, tag);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t /*anchor*/,
        YAML::EmitterStyle::value /*style*/) override {
        open(Node::Kind::map, mark, tag);
    }
    void OnMapEnd() override {
        check_keys(open_.back());
        close();
    }

  private:
    [[nodiscard]] Node node(Node::Kind kind, const YAML::Mark& mark) {
        Node made;
        made.kind = kind;
        made.mark = place(mark);
        return made;
    }

    // yaml-cpp reports "?" for a plain value and "!" for a quoted value without a tag.
    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!")
            report_.add(place(mark), "the tag " + in_quotes(tag) + "; tags are not supported");
    }

    // Reports a quote that is never closed and ends parsing, because yaml-cpp takes the rest of the
    // file for the quoted text.
    void check_quotes(const YAML::Mark& mark) {
        const auto begin = static_cast<std::size_t>(std::max(mark.pos, 0));
        const char quote = begin < text_.size() ? text_[begin] : '\0';
        if ((quote != '"' && quote != '\'') ||
            end_of_quotes(text_, begin) != std::string_view::npos)
            return;
        report_.add(
            place(mark), std::string{"not valid YAML: the "} + quote +
                             " that opens here is not closed; expected a closing one, or none: "
                             "most values need no quotes");
        throw Stop{};
    }

    // If a plain scalar goes on in the next line, and that line looks like a key and a value
    // without a colon, sets Remarks::continued to advice on that line.
    void note_continuation(const YAML::Mark& mark, Node& scalar) {
        const auto begin = static_cast<std::size_t>(std::max(mark.pos, 0));
        if (begin >= text_.size() || text_.substr(begin).starts_with(scalar.text))
            return;
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        const std::size_t next = text_.find_first_not_of(" \t\r\n", end);
        if (next == std::string_view::npos)
            return;
        std::string_view line = text_.substr(next, text_.find_first_of("\r\n", next) - next);
        line = line.substr(0, line.find_last_not_of(" \t") + 1);
        if (lacks_colon(line))
            scalar.remark().continued = "line " + std::to_string(positions_.at(next).line) + ", " +
                                        in_quotes(line) + ", " + colon_advice(line);
    }

    void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
        check_tag(mark, tag);
        if (open_.size() >= deepest) {
            report_.add(place(mark), "more than " + std::to_string(deepest) + " levels deep");
            throw Stop{};
        }
        open_.push_back(node(kind, mark));
    }

    void close() {
        Node done = std::move(open_.back());
        open_.pop_back();
        attach(std::move(done));
    }

    void attach(Node done) {
        if (open_.empty())
            root_ = std::move(done);
        else if (Node& parent = open_.back();
                 parent.kind == Node::Kind::map && parent.keys.size() == parent.items.size())
            parent.keys.push_back(std::move(done));
        else {
            // yaml-cpp gives a missing value the place of the next token; its key's place is used
            // instead.
            if (parent.kind == Node::Kind::map && done.kind == Node::Kind::null)
                done.mark = parent.keys.back().mark;
            parent.items.push_back(std::move(done));
        }
    }

    void check_keys(Node& map) {
        std::map<std::string_view, std::size_t> first_lines;
        for (Node& key : map.keys) {
            if (key.kind == Node::Kind::scalar) {
                if (key.text == "<<")
                    report_.add(
                        key.mark, "a merge key; merge keys are not supported, write the "
                                  "values out");
                else if (const auto [at, added] = first_lines.try_emplace(key.text, key.mark.line);
                         !added)
                    report_.add(
                        key.mark, "the key " + in_quotes(key.text) +
                                      " is here twice, first on line " +
                                      std::to_string(at->second) + "; keep one");
                else
                    continue;
            } else if (key.kind != Node::Kind::unusable) {
                report_.add(
                    key.mark,
                    "a key that is " + std::string{describe(key.kind)} + "; expected a word");
            }
            key.kind = Node::Kind::unusable;
        }
    }

    std::string_view text_;
    Positions positions_;
    Diagnostics& report_;
    std::vector<Node> open_; // maps and lists whose end is not yet parsed, outermost first
    std::optional<Node> root_;
    std::size_t documents_ = 0;
};

} // namespace

std::optional<Node> parse_yaml(std::string_view text, Diagnostics& report) {
    TreeBuilder builder{text, report};
    std::istringstream in{std::string{text}};
    try {
        YAML::Parser parser{in};
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Stop&) {
        return builder.take(); // the first document, if it is complete
    } catch (const YAML::Exception& error) {
        const std::size_t stop = error.mark.pos < 0 ? 0 : static_cast<std::size_t>(error.mark.pos);
        const SyntaxFault fault = explain_syntax(text, stop, error.msg);
        report.add(Positions{text}.at(fault.at), "not valid YAML: " + fault.what);
        return std::nullopt;
    }
    std::optional<Node> root = builder.take();
    if (!root || root->kind == Node::Kind::null) {
        report.add({1, 1}, "the file is empty; expected a map with listeners and routes");
        return std::nullopt;
    }
    return root;
}

std::string_view describe(Node::Kind kind) noexcept {
    switch (kind) {
    case Node::Kind::scalar:
        return "a value";
    case Node::Kind::map:
        return "a map";
    case Node::Kind::sequence:
        return "a list";
    case Node::Kind::null:
    case Node::Kind::unusable:
        break;
    }
    return "nothing";
}

} // namespace stint::config
