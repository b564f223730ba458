// An index of the routes of one host pattern by path: a trie of path segments. A lookup walks down
// once, and climbs back up from the most to the least specific pattern. Regular expressions are in
// a separate list. Internal to routing/.
#pragma once

#include "routing/route.hpp"
#include "routing/text_map.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stint::routing {

// The routes with the same host and path pattern, which differ by their methods.
class MethodChoice {
  public:
    void add(const Route& route);

    [[nodiscard]] bool empty() const noexcept { return any_ == nullptr && named_.empty(); }
    // Returns the route that names `method` in any case, else the one that takes any, else nullptr.
    // TRACE must be named.
    [[nodiscard]] const Route* choose(std::string_view method) const noexcept;
    // Returns the methods that routes name, in the order of the routes. A route for any method
    // names none.
    [[nodiscard]] const std::vector<std::pair<std::string, const Route*>>& named() const noexcept {
        return named_;
    }

  private:
    std::vector<std::pair<std::string, const Route*>> named_;
    const Route* any_ = nullptr;
};

class PathIndex {
  public:
    // Adds a route. `route` must not move as long as the index is used.
    void add(const Route& route);

    // Calls `visit` with each non-empty choice whose pattern matches `path`, the most specific
    // first, until it returns true. Returns true if it did.
    template <class Visit>
    bool visit_matching(std::string_view path, Visit visit) const;

  private:
    // A node of the trie, for the segments from the root to here. The `_slash` choices are for
    // patterns that end with "/".
    struct Node {
        TextMap<std::unique_ptr<Node>> children;
        const Node* parent = nullptr;
        MethodChoice exact;
        MethodChoice exact_slash;
        MethodChoice prefix;
        MethodChoice prefix_slash;
    };
    struct Walk {
        const Node* node;   // the deepest node on the path
        bool whole = false; // the node covers the whole path
        bool slash = false; // "/" follows the node's last segment in the path
    };

    struct Expression {
        Regex regex;
        MethodChoice choice;
    };

    void add_expression(const Route& route);
    [[nodiscard]] Walk walk(std::string_view path) const noexcept;
    // Like visit_matching(), for the regular expressions alone.
    template <class Visit>
    bool visit_expressions(std::string_view path, Visit& visit) const;

    Node root_;
    std::vector<Expression> expressions_; // in the order of their first routes
    // Index into expressions_ by pattern. The keys are views of texts that the expressions own.
    std::unordered_map<std::string_view, std::size_t> by_pattern_;
};

template <class Visit>
bool PathIndex::visit_matching(std::string_view path, Visit visit) const {
    const auto matches = [&](const MethodChoice& choice) {
        return !choice.empty() && visit(choice);
    };
    const Walk end = walk(path);
    if (end.whole && matches(end.slash ? end.node->exact_slash : end.node->exact))
        return true;
    if (!expressions_.empty() && visit_expressions(path, visit))
        return true;
    if (end.slash && matches(end.node->prefix_slash))
        return true;
    if (matches(end.node->prefix))
        return true;
    for (const Node* node = end.node->parent; node != nullptr; node = node->parent)
        if (matches(node->prefix_slash) || matches(node->prefix))
            return true;
    return false;
}

// Skips the target "*", which is not a path.
template <class Visit>
bool PathIndex::visit_expressions(std::string_view path, Visit& visit) const {
    for (const Expression& each : expressions_)
        if (path.starts_with('/') && each.regex.matches(path) && visit(each.choice))
            return true;
    return false;
}

} // namespace stint::routing
