// The index against every route looked at in turn.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

using namespace stint::routing;
using namespace stint::routing::test;

namespace {

bool matches(const HostPattern& pattern, std::string_view host) {
    switch (pattern.kind) {
    case HostPattern::Kind::exact:
        return host == pattern.text;
    case HostPattern::Kind::suffix:
        return host.size() > pattern.text.size() && host.ends_with(pattern.text);
    case HostPattern::Kind::any:
        return true;
    }
    return false;
}

bool matches(const PathPattern& pattern, std::string_view path) {
    if (pattern.kind == PathPattern::Kind::exact)
        return path == pattern.text;
    if (pattern.kind == PathPattern::Kind::regex)
        return path != "*" && pattern.regex->matches(path);
    if (pattern.text == "/" && path == "*")
        return true;
    if (pattern.text.ends_with('/'))
        return path.starts_with(pattern.text);
    return path == pattern.text || path.starts_with(pattern.text + "/");
}

// Host first, then path, then methods: the greater the more specific. Of regular expressions the
// one that stands first.
auto rank(const std::vector<Route>& routes, const Route& route) {
    const RouteMatch& match = route.match;
    const auto first = std::ranges::find_if(routes, [&](const Route& each) {
        return each.match.path.text == match.path.text && each.match.host.text == match.host.text &&
               each.match.host.kind == match.host.kind && each.match.path.regex;
    });
    const std::size_t of_path =
        match.path.regex ? static_cast<std::size_t>(routes.end() - first) : match.path.text.size();
    return std::tuple{
        match.host.kind, match.host.text.size(), match.path.kind, of_path, !match.methods.empty()};
}

std::string naive(
    const std::vector<Route>& routes,
    std::string_view host,
    std::string_view path,
    std::string_view method) {
    const Route* best = nullptr;
    bool path_matched = false;
    for (const Route& each : routes) {
        if (!matches(each.match.host, host) || !matches(each.match.path, path))
            continue;
        path_matched = true;
        const auto& methods = each.match.methods;
        if (!methods.empty() && std::ranges::find(methods, method) == methods.end())
            continue;
        if (best == nullptr || rank(routes, each) > rank(routes, *best))
            best = &each;
    }
    return best != nullptr ? best->name : path_matched ? "405" : "404";
}

std::string
naive_allowed(const std::vector<Route>& routes, std::string_view host, std::string_view path) {
    std::set<std::string> methods;
    for (const Route& each : routes)
        if (matches(each.match.host, host) && matches(each.match.path, path))
            methods.insert(each.match.methods.begin(), each.match.methods.end());
    std::string text;
    for (const std::string& method : methods)
        text.append(text.empty() ? "" : ", ").append(method);
    return text;
}

class Source {
  public:
    explicit Source(std::uint64_t seed) : random_{seed} {}

    std::string path() {
        std::string text;
        for (std::uint64_t left = below(5); left > 0; --left)
            text.append("/").append(pick({"a", "b", "ab", "c"}));
        if (text.empty() || below(4) == 0)
            text.append("/");
        return text;
    }
    std::string host() {
        std::string text = pick({"org", "com", "x"});
        for (std::uint64_t left = below(4); left > 0; --left)
            text = pick({"a", "b", "www"}).append(".").append(text);
        return text;
    }
    std::string expression() {
        return pick({"~/a.*", "~/[ab]/.+", "~/(a|b)?", "~^/ab$", "~.*/c/?", "~/[^/]+/[^/]+"});
    }
    std::string method() { return pick({"GET", "HEAD", "POST", "PUT"}); }

    std::vector<Route> routes() {
        std::vector<Route> made;
        for (std::uint64_t left = below(40); left > 0; --left) {
            std::string of = below(3) == 0 ? "*" : below(2) == 0 ? "*." : "";
            if (of != "*")
                of.append(host());
            std::string text = below(3) == 0 ? "=" : "";
            text.append(path());
            if (below(5) == 0)
                text = expression();
            std::vector<std::string> methods;
            for (std::uint64_t more = below(3); more > 0; --more)
                methods.push_back(method());
            made.push_back(route(std::to_string(made.size()), of, text, methods));
        }
        return made;
    }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  private:
    std::string pick(std::vector<std::string> choices) { return choices[below(choices.size())]; }

    std::mt19937_64 random_;
};

} // namespace

TEST_CASE("the index finds what looking at every route finds") {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        Source source{seed};
        const std::vector<Route> routes = source.routes();
        const RouteTable table{routes};
        for (int i = 0; i < 200; ++i) {
            const std::string host = source.host();
            const std::string path = source.below(50) == 0 ? "*" : source.path();
            const std::string method = source.method();
            CAPTURE(host);
            CAPTURE(path);
            CAPTURE(method);
            REQUIRE(found(table, host, path, method) == naive(routes, host, path, method));
            REQUIRE(table.allowed_methods(host, path) == naive_allowed(routes, host, path));
        }
    }
}
