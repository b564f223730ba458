#include "config/yaml/reader.hpp"

#include "config/yaml/foreign_keys.hpp"
#include "config/yaml/syntax.hpp"

#include <algorithm>

namespace stint::config {

namespace {

std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? std::string{key} : path + '.' + std::string{key};
}

// Returns a name from the file as a part of an error's path, quoted if it has special characters.
std::string part(std::string_view name) {
    const std::string text = in_quotes(name);
    const bool plain = text.size() == name.size() + 2 && !name.empty() &&
                       name.find_first_of(" \"':[]{}") == std::string_view::npos;
    return plain ? std::string{name} : text;
}

// Returns the error for a key that is not known. meant: the known key that it resembles, or "".
std::string
unknown_key(std::string_view key, std::string_view meant, std::span<const std::string_view> known) {
    if (const std::string_view advice = advice_on_key(key, known); !advice.empty())
        return "unknown key; " + std::string{advice};
    if (!meant.empty())
        return "unknown key; did you mean " + in_quotes(meant) + '?';
    if (!key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos)
        return "unknown key; in { } a comma ends a value; write numbers without commas";
    const std::string_view first = key.substr(0, key.find_first_of(" :"));
    if (lacks_colon(key) && std::ranges::find(known, first) != known.end())
        return "unknown key: it " + colon_advice(key);
    return "unknown key; expected " + listed(known, "or");
}

} // namespace

void Value::wrong(std::string_view what) const {
    std::string message = path_.empty() ? std::string{what} : path_ + ": " + std::string{what};
    if (const auto& remarks = node_->remarks) {
        if (!remarks->written.empty())
            message += "; filled in from " + in_quotes(remarks->written);
        if (!remarks->continued.empty())
            message += "; " + remarks->continued;
    }
    report_->add(mark(), std::move(message));
}

bool Value::check(Node::Kind kind, std::string_view expected) const {
    if (node_->kind == kind)
        return true;
    std::string found{describe(node_->kind)};
    if (node_->kind == Node::Kind::scalar)
        found = "the value " + in_quotes(node_->text);
    if (node_->kind != Node::Kind::unusable)
        wrong("found " + found + "; expected " + std::string{expected});
    return false;
}

std::optional<std::string_view> Value::scalar(std::string_view expected) const {
    if (!check(Node::Kind::scalar, expected))
        return std::nullopt;
    return node_->text;
}

std::optional<std::vector<Value>> Value::items(std::string_view expected) const {
    if (!check(Node::Kind::sequence, expected))
        return std::nullopt;
    std::vector<Value> values;
    for (const Node& item : node_->items)
        values.emplace_back(item, path_ + '[' + std::to_string(values.size()) + ']', *report_);
    return values;
}

std::optional<std::vector<Value::Named>> Value::entries(std::string_view expected) const {
    if (!check(Node::Kind::map, expected))
        return std::nullopt;
    std::vector<Named> named;
    for (std::size_t i = 0; i < node_->keys.size(); ++i) {
        const Node& key = node_->keys[i];
        if (key.kind != Node::Kind::scalar)
            continue;
        const std::string path = join(path_, part(key.text));
        named.push_back({{key, path, *report_}, key.text, {node_->items[i], path, *report_}});
    }
    return named;
}

std::optional<Section> Section::open(
    const Value& value, std::span<const std::string_view> known, std::string_view expected) {
    if (!value.check(Node::Kind::map, expected))
        return std::nullopt;
    Section section{value};
    const Node& map = *value.node_;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        if (map.keys[i].kind == Node::Kind::scalar)
            section.entries_.push_back({map.keys[i].text, &map.keys[i], &map.items[i]});
    }
    section.adopt(known);
    return section;
}

void Section::adopt(std::span<const std::string_view> known) {
    for (Entry& found : entries_) {
        if (std::find(known.begin(), known.end(), found.key) != known.end())
            continue;
        const std::string_view meant = advice_on_key(found.key, known).empty()
                                           ? nearest(found.key, known)
                                           : std::string_view{};
        const Value key{*found.key_node, join(value_.path(), part(found.key)), value_.report()};
        key.wrong(unknown_key(found.key, meant, known));
        if (!meant.empty() && entry(meant) == nullptr)
            found.key = meant;
    }
}

const Section::Entry* Section::entry(std::string_view key) const {
    const auto at = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
    return at == entries_.end() ? nullptr : &*at;
}

std::optional<Value> Section::find(std::string_view key) const {
    const Entry* const found = entry(key);
    if (found == nullptr)
        return std::nullopt;
    return Value{*found->node, join(value_.path(), key), value_.report()};
}

std::optional<Value> Section::require(std::string_view key, std::string_view expected) const {
    auto found = find(key);
    if (!found)
        value_.wrong(std::string{key} + " is missing; expected " + std::string{expected});
    return found;
}

void Section::wrong_at(std::string_view key, std::string_view what) const {
    if (const Entry* const found = entry(key))
        Value{*found->key_node, join(value_.path(), key), value_.report()}.wrong(what);
}

} // namespace stint::config
