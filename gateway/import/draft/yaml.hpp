// Writes YAML with comments. Every text is read back as it was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::import_nginx {

// A value of a YAML document: a scalar, or a map or list in the order of its entries.
class Node {
  public:
    // A number, a word such as `off` or a duration, written as it is.
    [[nodiscard]] static Node word(std::string text);
    [[nodiscard]] static Node number(std::uint64_t number);
    // Any text, quoted where YAML or Stint would read it otherwise ("${" begins a variable).
    [[nodiscard]] static Node text(std::string_view text);
    [[nodiscard]] static Node map() { return Node{Kind::map}; }
    [[nodiscard]] static Node list() { return Node{Kind::list}; }
    [[nodiscard]] static Node texts(const std::vector<std::string>& texts);

    // Adds an entry with the comments above it. A list has no keys.
    Node& add(std::string_view key, Node value, std::vector<std::string> comments = {});
    Node& push(Node value, std::vector<std::string> comments = {});
    // Adds the entries of another map or list.
    void append(Node other);
    // Writes this map or list on one line, as {a: 1} or [1].
    Node& flow() noexcept;
    [[nodiscard]] bool empty() const noexcept { return entries_.empty() && scalar_.empty(); }

    // Returns the document.
    [[nodiscard]] std::string document() const;

  private:
    enum class Kind : std::uint8_t { scalar, map, list };
    explicit Node(Kind kind) : kind_{kind} {}

    void write_entries(std::string& out, std::size_t indent) const;
    void write_value(std::string& out, std::size_t indent, bool in_list) const;
    void write_flow(std::string& out) const;

    Kind kind_;
    bool flow_ = false;
    std::string scalar_;
    std::vector<Node> entries_;
    std::string key_;                   // as it is written, in the map that this is an entry of
    std::vector<std::string> comments_; // above it there
};

// Returns the text as it can stand in a comment: on one line, without control characters, as UTF-8.
[[nodiscard]] std::string comment_text(std::string_view text);

} // namespace stint::import_nginx
