// Typed access to the tree. The caller names what is expected; anything else is reported with its
// place and its path ("routes[2].upstream: ..."), and reading goes on.
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

// Why a text is not the value it should be: "\"5x\" has ...; expected ...".
struct ParseError {
    std::string why;
};

// A value or why there is none. (Not Result: that one has no way to hold a text beside a Wrong that
// can be made of a text.)
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

// A node and the way to it. Refers to the tree and to the report: both must outlive it.
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

    void wrong(std::string_view what) const;

    // The text, list or map; another kind is reported, `expected` completes the sentence.
    [[nodiscard]] std::optional<std::string_view> scalar(std::string_view expected) const;
    [[nodiscard]] std::optional<std::vector<Value>> items(std::string_view expected) const;
    // A map whose keys are names that the user chose.
    struct Named;
    [[nodiscard]] std::optional<std::vector<Named>> entries(std::string_view expected) const;

    // The text as parse(std::string_view) -> Parsed<T> understands it.
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

    // The same, into a place that keeps its default when the value is wrong.
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
    Value key; // its path is the value's
    std::string_view name;
    Value value;
};

// A map with known keys.
class Section {
  public:
    // Reports another kind and each unknown key. A key that is only misspelt is read as what it was
    // meant for, so that its value is checked too and nothing is called missing.
    [[nodiscard]] static std::optional<Section>
    open(const Value& value, std::span<const std::string_view> known, std::string_view expected);

    [[nodiscard]] std::optional<Value> find(std::string_view key) const;
    // Reports a key that is not there; `expected` completes the sentence.
    [[nodiscard]] std::optional<Value>
    require(std::string_view key, std::string_view expected) const;
    [[nodiscard]] const Value& value() const noexcept { return value_; }
    // Reports that a key should not be there, at the key.
    void wrong_at(std::string_view key, std::string_view what) const;

  private:
    struct Entry {
        std::string_view key; // as known, or as written when unknown
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
