#include "import/draft/yaml.hpp"

#include <algorithm>
#include <array>

namespace stint::import_nginx {

namespace {

constexpr std::size_t widest_comment = 110;

bool is_plain_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-';
}

// Returns true if YAML reads the text without quotes as this text, whatever reader it is.
bool is_plain(std::string_view text) {
    constexpr std::array<std::string_view, 10> words{"on",   "off",   "yes", "no", "true",
                                                     "null", "false", "y",   "n",  "~"};
    const std::string_view first = text.substr(0, 1);
    const bool letter = first >= "A" && first <= "z";
    return !text.empty() && (letter || first == "/") &&
           std::ranges::all_of(text, is_plain_character) &&
           std::ranges::find(words, text) == words.end();
}

std::string quoted(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out{'"'};
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '"' || byte == '\\')
            out += '\\';
        if (byte == '\n') {
            out += "\\n";
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\x";
            out += digits[byte >> 4U];
            out += digits[byte & 0xFU];
        } else {
            out += text[i];
        }
        // Stint reads "${" as a variable and "$${" as "${".
        if (byte == '$' && text.substr(i + 1).starts_with('{'))
            out += '$';
    }
    return out += '"';
}

std::string scalar(std::string_view text) {
    return is_plain(text) ? std::string{text} : quoted(text);
}

// Breaks a comment into lines.
void write_comment(std::string& out, std::size_t indent, std::string_view text) {
    while (!text.empty()) {
        std::size_t end = std::min(text.size(), widest_comment - std::min<std::size_t>(indent, 40));
        if (end < text.size()) {
            const std::size_t blank = text.rfind(' ', end);
            end = blank == std::string_view::npos || blank == 0 ? text.find(' ', end) : blank;
            end = std::min(end, text.size());
        }
        out.append(indent, ' ').append("# ").append(text.substr(0, end)).append("\n");
        text.remove_prefix(end);
        while (text.starts_with(' '))
            text.remove_prefix(1);
    }
}

} // namespace

std::string comment_text(std::string_view text) {
    std::string escaped{text.substr(0, 1000)};
    for (char& c : escaped)
        if (static_cast<unsigned char>(c) >= 0x7F || static_cast<unsigned char>(c) < 0x20)
            c = c == '\n' || c == '\t' ? ' ' : '?';
    return escaped;
}

Node Node::word(std::string text) {
    Node node{Kind::scalar};
    node.scalar_ = std::move(text);
    return node;
}

Node Node::number(std::uint64_t number) {
    return word(std::to_string(number));
}

Node Node::text(std::string_view text) {
    return word(scalar(text));
}

Node Node::texts(const std::vector<std::string>& texts) {
    Node node = list();
    for (const std::string& one : texts)
        node.push(text(one));
    node.flow();
    return node;
}

Node& Node::add(std::string_view key, Node value, std::vector<std::string> comments) {
    push(std::move(value), std::move(comments));
    entries_.back().key_ = scalar(key);
    return *this;
}

Node& Node::push(Node value, std::vector<std::string> comments) {
    for (std::string& comment : comments)
        comment = comment_text(comment);
    entries_.push_back(std::move(value));
    entries_.back().comments_ = std::move(comments);
    return *this;
}

void Node::append(Node other) {
    for (Node& entry : other.entries_)
        entries_.push_back(std::move(entry));
}

Node& Node::flow() noexcept {
    flow_ = true;
    return *this;
}

std::string Node::document() const {
    std::string out;
    write_entries(out, 0);
    return out;
}

void Node::write_entries(std::string& out, std::size_t indent) const {
    for (const Node& entry : entries_) {
        for (const std::string& comment : entry.comments_)
            write_comment(out, indent, comment);
        out.append(indent, ' ');
        if (kind_ == Kind::list)
            out += '-';
        else
            out.append(entry.key_).append(":");
        entry.write_value(out, indent, kind_ == Kind::list);
    }
}

// in_list: the value stands behind a dash, where a map begins on the same line.
void Node::write_value(std::string& out, std::size_t indent, bool in_list) const {
    if (kind_ == Kind::scalar || flow_ || entries_.empty()) {
        out += ' ';
        write_flow(out);
        out += '\n';
        return;
    }
    std::string inner;
    write_entries(inner, indent + 2);
    const bool same_line = in_list && kind_ == Kind::map && entries_.front().comments_.empty();
    out += same_line ? " " : "\n";
    out += same_line ? std::string_view{inner}.substr(indent + 2) : std::string_view{inner};
}

void Node::write_flow(std::string& out) const {
    if (kind_ == Kind::scalar) {
        out += scalar_;
        return;
    }
    out += kind_ == Kind::map ? '{' : '[';
    bool first = true;
    for (const Node& entry : entries_) {
        out += first ? "" : ", ";
        first = false;
        if (kind_ == Kind::map)
            out.append(entry.key_).append(": ");
        entry.write_flow(out);
    }
    out += kind_ == Kind::map ? '}' : ']';
}

} // namespace stint::import_nginx
