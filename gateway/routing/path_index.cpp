#include "routing/path_index.hpp"

#include "http/ascii.hpp"

namespace stint::routing {

namespace {

// Moves the first segment of `rest` to `segment`, and drops the "/" behind it. Returns true if
// there was a "/".
bool cut_segment(std::string_view& rest, std::string_view& segment) noexcept {
    const std::size_t slash = rest.find('/');
    segment = rest.substr(0, slash);
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    return slash != std::string_view::npos;
}

} // namespace

void MethodChoice::add(const Route& route) {
    for (const std::string& method : route.match.methods)
        named_.emplace_back(method, &route);
    if (route.match.methods.empty() && any_ == nullptr)
        any_ = &route;
}

// Ignores case: methods are case-sensitive (RFC 9110 section 9.1), but some servers take "get" for
// GET.
const Route* MethodChoice::choose(std::string_view method) const noexcept {
    for (const auto& [name, route] : named_)
        if (http::ascii::same_folded(method, name))
            return route;
    return http::ascii::equals_folded(method, "trace") ? nullptr : any_;
}

void PathIndex::add(const Route& route) {
    const PathPattern& pattern = route.match.path;
    if (pattern.kind == PathPattern::Kind::regex)
        return add_expression(route);
    std::string_view rest = pattern.text;
    rest.remove_prefix(rest.starts_with('/') ? 1 : 0);
    Node* node = &root_;
    bool slash = true;
    while (!rest.empty()) {
        std::string_view segment;
        slash = cut_segment(rest, segment);
        std::unique_ptr<Node>& child = node->children[std::string{segment}];
        if (child == nullptr)
            child = std::make_unique<Node>();
        child->parent = node;
        node = child.get();
    }
    if (pattern.kind == PathPattern::Kind::exact)
        (slash ? node->exact_slash : node->exact).add(route);
    else
        (slash ? node->prefix_slash : node->prefix).add(route);
}

void PathIndex::add_expression(const Route& route) {
    const Regex& regex = *route.match.path.regex;
    const auto [known, is_new] = by_pattern_.try_emplace(regex.pattern(), expressions_.size());
    if (is_new)
        expressions_.push_back(
            {regex, {}}); // copies of a Regex share the text that is the map's key
    expressions_[known->second].choice.add(route);
}

PathIndex::Walk PathIndex::walk(std::string_view path) const noexcept {
    Walk at{.node = &root_, .whole = false, .slash = true};
    if (!path.starts_with('/'))
        return at; // target "*": only a route with the prefix "/" matches
    std::string_view rest = path.substr(1);
    while (!rest.empty()) {
        std::string_view segment;
        const bool slash = cut_segment(rest, segment);
        const std::unique_ptr<Node>* const child = find_text(at.node->children, segment);
        if (child == nullptr)
            return at;
        at = {.node = child->get(), .whole = false, .slash = slash};
    }
    at.whole = true;
    return at;
}

} // namespace stint::routing
