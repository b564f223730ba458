#include "config/yaml/variables.hpp"

#include "config/values/text_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace stint::config {

namespace {

constexpr std::string_view opening = "${";
constexpr std::string_view escaped_opening = "$${";
constexpr std::string_view before_default = ":-";
// Maximum of bytes that replace the variables of a file, in total. Without it a file that names the
// variable of a long value many times could use up the memory.
constexpr std::size_t most_filled_in = 1U << 20U;

constexpr std::string_view variable_expected =
    "; expected ${NAME} or ${NAME:-default} with a name of A-Z a-z 0-9 _; for the characters ${ "
    "themselves write $${";

struct Variable {
    std::string_view name;
    std::optional<std::string_view> otherwise; // the default
};

// Splits a variable into its name and its default. Requires a text "${...}".
Variable parts_of(std::string_view text) {
    const std::string_view inside = text.substr(opening.size(), text.size() - opening.size() - 1);
    const std::size_t end = inside.find(before_default);
    if (end == std::string_view::npos)
        return {inside, std::nullopt};
    return {inside.substr(0, end), inside.substr(end + before_default.size())};
}

bool is_variable_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

// Returns the length of "${...}" at the beginning of the text. Braces inside come in pairs, as in
// ${NAME:-{client_ip}}. 0 if the variable has no end.
std::size_t variable_length(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t i = opening.size() - 1; i < text.size(); ++i) {
        if (text[i] == '{')
            ++depth;
        else if (text[i] == '}' && --depth == 0)
            return i + 1;
    }
    return 0;
}

bool is_plain_text(std::string_view text) {
    Diagnostics faults{""};
    (void)checked_text(text, faults);
    return faults.empty();
}

class VariableFiller {
  public:
    VariableFiller(const Environment& environment, Diagnostics& report)
        : environment_(environment), report_(report) {}

    void fill_tree(Node& node) {
        if (node.kind == Node::Kind::scalar && node.text.find(opening) != std::string::npos)
            fill_scalar(node);
        for (Node& item : node.items)
            fill_tree(item);
    }

  private:
    void fill_scalar(Node& node) {
        std::string filled;
        std::string_view rest = node.text;
        while (!rest.empty()) {
            if (rest.starts_with(escaped_opening)) {
                filled += opening;
                rest.remove_prefix(escaped_opening.size());
            } else if (rest.starts_with(opening)) {
                const std::size_t length = variable_length(rest);
                const auto value = value_of(node, rest.substr(0, length), rest);
                if (!value) {
                    node.kind = Node::Kind::unusable;
                    return;
                }
                filled += *value;
                node.remark().written = node.text;
                rest.remove_prefix(length);
            } else {
                filled += rest.front();
                rest.remove_prefix(1);
            }
        }
        node.text = std::move(filled);
    }

    // Returns the value of a variable; reports an error and returns nullopt if it has none.
    // variable: "${...}"; empty if it has no closing brace. rest: the scalar's text from "${" on.
    std::optional<std::string>
    value_of(const Node& node, std::string_view variable, std::string_view rest) {
        if (variable.empty())
            return wrong(
                node, in_quotes(rest) + " has no closing }" + std::string{variable_expected});
        const Variable parts = parts_of(variable);
        if (!is_variable_name(parts.name))
            return wrong(
                node, in_quotes(variable) + " is not a variable" + std::string{variable_expected});
        if (parts.otherwise && parts.otherwise->find(opening) != std::string_view::npos)
            return wrong(
                node, in_quotes(variable) + " has a variable in its default; expected a default "
                                            "without ${");
        auto value = environment_ ? environment_(parts.name) : std::nullopt;
        if (parts.otherwise && (!value || value->empty()))
            value = std::string{*parts.otherwise};
        if (!value)
            return wrong(
                node, "the environment variable " + in_quotes(parts.name) +
                          " is not set; set it before the start, or write a default: ${" +
                          std::string{parts.name} + ":-default}");
        return check(node, parts.name, std::move(*value));
    }

    std::optional<std::string> check(const Node& node, std::string_view name, std::string value) {
        if (!is_plain_text(value))
            return wrong(
                node, "the environment variable " + in_quotes(name) +
                          " holds control characters or bytes that are not UTF-8; expected plain "
                          "text");
        filled_in_ += value.size();
        if (filled_in_ > most_filled_in)
            return wrong(
                node, "with " + in_quotes(name) +
                          " the values of the environment variables in "
                          "this file come to more than 1 MiB; expected "
                          "shorter values");
        return value;
    }

    std::nullopt_t wrong(const Node& node, std::string message) {
        report_.add(node.mark, std::move(message));
        return std::nullopt;
    }

    const Environment& environment_;
    Diagnostics& report_;
    std::size_t filled_in_ = 0; // bytes that have replaced variables so far
};

} // namespace

void fill_in_variables(Node& root, const Environment& environment, Diagnostics& report) {
    VariableFiller{environment, report}.fill_tree(root);
}

} // namespace stint::config
