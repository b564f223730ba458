// Typed access to the YAML tree. The caller states the expected type; a value of another type is
// reported with its place and path ("routes[2].upstream: ..."), and reading goes on.
#pragma once

#include "config/yaml/diagnostics.hpp"
#include "config/yaml/yaml_tree.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stint::config {

// The reason why a text does not parse: "\"5x\" has ...; expected ...".
struct ParseError {
    std::string why;
};

// A parsed value, or a ParseError. Result cannot be used: with T = std::string its two alternatives
// would be ambiguous.
template <class T>
class Parsed {
  public:
    using value_type = T;

    Parsed(T value) : outcome_(std::in_place_index<0>, std::move(value)) {}
    Parsed(ParseError wrong) : outcome_(std::in_place_index<1>, std::move(wrong)) {}

    explicit operator bool() const noexcept { return outcome_.index() == 0; }
    [[nodiscard]] const T& operator*() const { return std::get<0>(outcome_); }
    [[nodiscard]] T& operator*() { return std::get<0>(outcome_); }
    [[nodiscard]] const ParseError& error() const { return std::get<1>(outcome_); }

  private:
    std::variant<T, ParseError> outcome_;
};

// A node of the YAML tree with its path. Refers to the tree and to the report, which must outlive
// the Value.
class Value {
  public:
    Value(const Node& node, std::string path, Diagnostics& report)
        : node_(&node), path_(std::move(path)), report_(&report) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] Mark mark() const noexcept { return node_->mark; }
    [[nodiscard]] bool is_null() const noexcept { return node_->kind == Node::Kind::null; }
    [[nodiscard]] bool is_scalar() const noexcept { return node_->kind == Node::Kind::scalar; }
    [[nodiscard]] bool is_map() const noexcept { return node_->kind == Node::Kind::map; }
    [[nodiscard]] bool is_list() const noexcept { return node_->kind == Node::Kind::sequence; }

    // Returns a scalar's text with its variables, as in the file; empty if it has none.
    [[nodiscard]] std::string_view written() const noexcept {
        return node_->remarks != nullptr ? std::string_view{node_->remarks->written}
                                         : std::string_view{};
    }

    // Reports an error at the node. If the value has variables, the message also quotes it as it is
    // written in the file.
    void wrong(std::string_view what) const;

    // scalar() returns the text of a scalar, items() the items of a list. Both report a node of
    // another kind and return nullopt. expected: completes the message "expected ...".
    [[nodiscard]] std::optional<std::string_view> scalar(std::string_view expected) const;
    [[nodiscard]] std::optional<std::vector<Value>> items(std::string_view expected) const;
    struct Named;
    // Returns the entries of a map whose keys are names chosen by the user. Reports a node of
    // another kind and returns nullopt.
    [[nodiscard]] std::optional<std::vector<Named>> entries(std::string_view expected) const;

    // Returns the node's text as parsed by parse(std::string_view) -> Parsed<T>; reports an error
    // and returns nullopt otherwise.
    template <class Parse>
    [[nodiscard]] auto as(std::string_view expected, Parse parse) const
        -> std::optional<typename decltype(parse(std::string_view{}))::value_type> {
        const auto text = scalar(expected);
        if (!text)
            return std::nullopt;
        auto parsed = parse(*text);
        if (parsed)
            return std::move(*parsed);
        wrong(parsed.error().why);
        return std::nullopt;
    }

    // Parses the node's text into `place`; reports an error and leaves `place` unchanged otherwise.
    template <class T, class Parse>
    void into(T& place, std::string_view expected, Parse parse) const {
        if (auto value = as(expected, parse))
            place = std::move(*value);
    }

    [[nodiscard]] Diagnostics& report() const noexcept { return *report_; }

  private:
    friend class Section;
    [[nodiscard]] bool check(Node::Kind kind, std::string_view expected) const;

    const Node* node_;
    std::string path_;
    Diagnostics* report_;
};

struct Value::Named {
    Value key; // the key's node, with the path of `value`
    std::string_view name;
    Value value;
};

// A map with known keys.
class Section {
  public:
    // Opens a map. Reports a node of another kind, and each key that is not in `known`. A misspelt
    // key is reported and then read as the known key that it resembles, so that its value is
    // checked, too, and the known key is not reported as missing.
    [[nodiscard]] static std::optional<Section>
    open(const Value& value, std::span<const std::string_view> known, std::string_view expected);

    [[nodiscard]] std::optional<Value> find(std::string_view key) const;
    // Finds a key, or reports that it is missing. expected: completes the message "expected ...".
    [[nodiscard]] std::optional<Value>
    require(std::string_view key, std::string_view expected) const;
    [[nodiscard]] const Value& value() const noexcept { return value_; }
    // Reports an error about a key, at the place of the key.
    void wrong_at(std::string_view key, std::string_view what) const;

  private:
    struct Entry {
        std::string_view key; // the known key, or the text of an unknown one
        const Node* key_node;
        const Node* node;
    };

    explicit Section(Value value) : value_(std::move(value)) {}
    [[nodiscard]] const Entry* entry(std::string_view key) const;
    void adopt(std::span<const std::string_view> known);

    Value value_;
    std::vector<Entry> entries_;
};

} // namespace stint::config
