// Directives that choose who answers a request: locations, return, rewrite, if, access, files.
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace stint::import_nginx {

namespace {

void read_http(Block& block, const Directive& directive) {
    Block inner{
        .where = context::http,
        .model = block.model,
        .report = block.report,
        .settings = &block.model.settings};
    read_block(inner, directive.block);
}

// Reads the modifier and the pattern of a location. Returns false if they are not valid.
bool read_pattern(const Directive& directive, Location& location) {
    const bool separate = directive.args.size() == 2;
    std::string modifier = separate ? directive.args.front() : std::string{};
    location.pattern = directive.args.back();
    constexpr std::array<std::string_view, 4> modifiers{"=", "^~", "~*", "~"};
    for (const std::string_view one : modifiers)
        if (modifier.empty() && !separate && location.pattern.starts_with(one)) {
            modifier = one;
            location.pattern.erase(0, one.size());
        }
    if (modifier.empty()) {
        const bool named = location.pattern.starts_with('@');
        location.kind = named ? Location::Kind::named : Location::Kind::prefix;
        return true;
    }
    location.kind = modifier == "="    ? Location::Kind::exact
                    : modifier == "^~" ? Location::Kind::prefix_first
                                       : Location::Kind::regex;
    location.ignore_case = modifier == "~*";
    return std::ranges::find(modifiers, modifier) != modifiers.end();
}

void read_location(Block& block, const Directive& directive) {
    Location location;
    location.settings = *block.settings;
    const Directive* const files = location.settings.files;
    if (files != nullptr && files->name == "try_files")
        location.settings.files = nullptr; // try_files alone is not inherited
    location.at = &directive;
    if (!read_pattern(directive, location))
        return lose_argument(block, directive, "one of = ^~ ~ ~* and a path");
    Block inner{
        .where = context::location,
        .model = block.model,
        .report = block.report,
        .settings = &location.settings,
        .server = block.server,
        .location = &location};
    read_block(inner, directive.block);
    if (location.kind == Location::Kind::named)
        return block.server->named.push_back(std::move(location));
    auto& siblings = block.location != nullptr ? block.location->nested : block.server->locations;
    siblings.push_back(std::move(location));
}

Action& action_of(Block& block) {
    return block.location != nullptr ? block.location->action : block.server->action;
}

void read_return(Block& block, const Directive& directive) {
    Action& action = action_of(block);
    if (action.kind == Action::Kind::none || action.kind == Action::Kind::proxy)
        action = {Action::Kind::answer, &directive, nullptr};
}

void read_internal(Block& block, const Directive& directive) {
    block.location->action = {Action::Kind::internal, &directive, nullptr};
    block.report.note(directive, "clients get 404, as in nginx");
}

void read_rewrite(Block& block, const Directive& directive) {
    const bool breaks = directive.args.size() == 3 && directive.args.back() == "break";
    if (!breaks || block.location == nullptr || block.location->action.rewrite != nullptr)
        return block.report.lose(
            directive,
            "only one rewrite of a location, with break, is read; see rewrite of a route");
    block.location->action.rewrite = &directive;
}

bool refuses(const Directive& directive) {
    if (directive.name == "deny")
        return true;
    const auto status = directive.name == "return" && !directive.args.empty()
                            ? number_of(directive.args.front())
                            : std::nullopt;
    return status && *status >= 400;
}

// `if ($host = NAME) { return ... }` of a server, as certbot writes it.
bool is_answer_by_host(const Block& block, const Directive& directive) {
    const auto& args = directive.args;
    return block.location == nullptr && block.server != nullptr && args.size() == 3 &&
           (args[0] == "($host" || args[0] == "$host") && args[1] == "=" &&
           directive.block.size() == 1 && directive.block.front().name == "return";
}

// True if the block has a `return` before the directive, so that nginx never comes to it.
bool is_behind_return(Block& block, const Directive& directive) {
    const Action& action = action_of(block);
    // Both stand in the list of the block's directives.
    return action.kind == Action::Kind::answer && std::less<>{}(action.at, &directive);
}

void read_if(Block& block, const Directive& directive) {
    if (is_behind_return(block, directive))
        return block.report.note(directive, "the return before it answers all requests");
    if (is_answer_by_host(block, directive) && block.settings->guards.contains("if"))
        return block.report.lose(
            directive, "an if before it refuses; the draft refuses (403) all that it guards");
    if (is_answer_by_host(block, directive)) {
        std::string host = directive.args[2];
        if (host.ends_with(')'))
            host.pop_back();
        block.server->answers_by_host.emplace_back(std::move(host), &directive.block.front());
        return;
    }
    if (std::ranges::any_of(directive.block, refuses)) {
        block.settings->guards.try_emplace(directive.name, &directive);
        return block.report.lose(
            directive,
            "Stint has no such condition; it refuses, so the draft refuses (403) all that "
            "it guards");
    }
    block.report.lose(directive, "Stint has no such condition; left out with its block");
}

void read_access(Block& block, const Directive& directive) {
    const std::string& network = directive.args.front();
    const bool allow = directive.name == "allow";
    block.own(block.settings->access, "access").push_back({allow, network, &directive});
}

void read_guard(Block& block, const Directive& directive) {
    if (directive.args.size() == 1 && directive.args.front() == "off")
        return void(block.settings->guards.erase(directive.name));
    block.settings->guards[directive.name] = &directive;
    block.report.lose(
        directive, "Stint does not check it; the draft refuses (403) all that it guards");
}

void read_files(Block& block, const Directive& directive) {
    const Directive*& files = block.settings->files;
    // try_files decides where requests go; root and alias say where its files are.
    if (files == nullptr || files->name != "try_files" || directive.name == "try_files")
        files = &directive;
    if (block.location == nullptr)
        block.report.note(
            directive, "Stint serves no files; locations that need it are listed by themselves");
}

// Another program or module that answers in the place of proxy_pass.
void read_other_content(Block& block, const Directive& directive) {
    block.settings->files = &directive;
    block.report.lose(
        directive, "Stint speaks HTTP to upstreams alone; the draft answers 501 in its place");
}

void read_set(Block& block, const Directive& directive) {
    const std::string name = directive.args[0].starts_with('$') ? directive.args[0].substr(1) : "";
    auto& setters = block.model.setters;
    const bool constant = !has_variables(directive.args[1]) && !setters.contains(name);
    setters.insert_or_assign(name, constant ? directive.args[1] : "$");
    block.report.note(directive, "the draft has its value where a constant one is used");
}

void read_default_type(Block& block, const Directive& directive) {
    block.settings->content_type = directive.args.front();
}

void read_absolute_redirect(Block& block, const Directive& directive) {
    if (read_switch(block, directive))
        block.report.lose(directive, "Stint sends targets as they are written");
    else
        block.report.note(directive, "Stint sends targets as they are written");
}

constexpr unsigned inside = context::server | context::location;
constexpr unsigned shared_here = context::shared;
constexpr std::array table_of_answers{
    Row{"http", context::main, 0, 0, read_http},
    Row{"location", inside, 1, 2, read_location},
    Row{"return", inside, 1, 2, read_return},
    Row{"internal", context::location, 0, 0, read_internal},
    Row{"rewrite", inside, 2, 3, read_rewrite},
    Row{"if", inside, 1, many, read_if},
    Row{"allow", shared_here, 1, 1, read_access},
    Row{"deny", shared_here, 1, 1, read_access},
    Row{"auth_basic", shared_here, 1, 1, read_guard},
    Row{"auth_request", shared_here, 1, 1, read_guard},
    Row{"auth_jwt", shared_here, 1, 2, read_guard},
    Row{"limit_except", context::location, 1, many, read_guard},
    Row{"access_by_lua_block", shared_here, 0, 0, read_guard},
    Row{"access_by_lua_file", shared_here, 1, 1, read_guard},
    Row{"rewrite_by_lua_block", shared_here, 0, 0, read_guard},
    Row{"rewrite_by_lua_file", shared_here, 1, 1, read_guard},
    Row{"root", shared_here, 1, 1, read_files},
    Row{"alias", context::location, 1, 1, read_files},
    Row{"try_files", inside, 2, many, read_files},
    Row{"autoindex", shared_here, 1, 1, read_files},
    Row{"stub_status", inside, 0, 1, read_other_content},
    Row{"fastcgi_pass", context::location, 1, 1, read_other_content},
    Row{"uwsgi_pass", context::location, 1, 1, read_other_content},
    Row{"scgi_pass", context::location, 1, 1, read_other_content},
    Row{"grpc_pass", context::location, 1, 1, read_other_content},
    Row{"memcached_pass", context::location, 1, 1, read_other_content},
    Row{"content_by_lua_block", context::location, 0, 0, read_other_content},
    Row{"content_by_lua_file", context::location, 1, 1, read_other_content},
    Row{"echo", context::location, 1, many, read_other_content},
    Row{"empty_gif", context::location, 0, 0, read_other_content},
    Row{"set", inside, 2, 2, read_set},
    Row{"absolute_redirect", shared_here, 1, 1, read_absolute_redirect},
    Row{"default_type", shared_here, 1, 1, read_default_type},
};

} // namespace

std::span<const Row> answer_rows() {
    return table_of_answers;
}

} // namespace stint::import_nginx
