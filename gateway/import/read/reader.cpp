#include "import/read/reader.hpp"

#include "config/values/file_values.hpp"
#include "config/values/text_check.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace stint::import_nginx {

namespace {

using Rows = std::unordered_map<std::string_view, const Row*>;

const Rows& all_rows() {
    static const Rows rows = [] {
        Rows made;
        for (const auto& part :
             {limit_rows(), proxy_rows(), upstream_rows(), server_rows(), answer_rows(),
              client_rows(), unread_rows()})
            for (const Row& row : part)
                made.emplace(row.name, &row);
        return made;
    }();
    return rows;
}

std::string unknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& [known, row] : all_rows())
        names.push_back(known);
    std::ranges::sort(names);
    return "is not a directive that is known here" + config::did_you_mean(name, names);
}

std::string_view words(unsigned where) {
    constexpr std::array<std::pair<unsigned, std::string_view>, 5> names{{
        {context::main, "outside of http"},
        {context::http, "in http"},
        {context::server, "in a server"},
        {context::location, "in a location"},
        {context::upstream, "in an upstream"},
    }};
    for (const auto& [one, text] : names)
        if (one == where)
            return text;
    return "here";
}

// Returns true for text that a configuration of Stint can have: UTF-8 without control characters.
bool is_text(const Directive& directive) {
    config::Diagnostics faults{""};
    (void)config::checked_text(directive.name, faults);
    for (const std::string& argument : directive.args)
        (void)config::checked_text(argument, faults);
    return faults.empty();
}

// How many arguments a directive has.
std::string shown(const Row& row) {
    const std::string least = std::to_string(row.least);
    if (row.most == row.least)
        return least;
    return row.most == many ? "at least " + least : least + " to " + std::to_string(row.most);
}

// Returns true if the directive is one that nginx accepts here, with so many arguments.
bool fits(Block& block, const Directive& directive, const Row& row) {
    if ((row.where & block.where) == 0) {
        block.report.lose(
            directive, "is not expected " + std::string{words(block.where)} + "; left out");
        return false;
    }
    if (directive.args.size() < row.least || directive.args.size() > row.most) {
        block.report.lose(
            directive,
            "has " + std::to_string(directive.args.size()) + " arguments, expected " + shown(row));
        return false;
    }
    return true;
}

} // namespace

void read_directive(Block& block, const Directive& directive) {
    const Row* const row = find_row(directive.name);
    if (!is_text(directive))
        return block.report.lose(
            directive, "has bytes that are not UTF-8, or control characters; left out");
    if (row == nullptr)
        return block.report.lose(directive, unknown(directive.name));
    const bool idle =
        !row->idle.empty() && directive.args.size() == 1 && directive.args.front() == row->idle;
    if (idle)
        return block.report.note(directive, "does nothing in nginx, either");
    if (row->read == nullptr)
        return row->lost ? block.report.lose(directive, std::string{row->why})
                         : block.report.note(directive, std::string{row->why});
    if (fits(block, directive, *row))
        row->read(block, directive);
}

const Row* find_row(std::string_view name) {
    const auto found = all_rows().find(name);
    return found == all_rows().end() ? nullptr : found->second;
}

void read_block(Block& block, const std::vector<Directive>& directives) {
    const auto rank = [](const Directive& one) {
        const bool inner = one.name == "location" || one.name == "server";
        return one.has_block ? (inner ? 2 : 1) : 0;
    };
    for (const int pass : {0, 1, 2})
        for (const Directive& directive : directives)
            if (rank(directive) == pass)
                read_directive(block, directive);
}

Model read_model(const std::vector<Directive>& directives, std::string folder, Report& report) {
    Model model;
    model.folder = std::move(folder);
    Block block{.where = context::main, .model = model, .report = report};
    // A file of conf.d or sites-enabled has no `http` around it.
    constexpr std::array<std::string_view, 3> of_http{"server", "upstream", "limit_req_zone"};
    const bool bare = std::ranges::any_of(directives, [&](const Directive& one) {
        return std::ranges::find(of_http, one.name) != of_http.end();
    });
    if (bare) {
        block.where = context::http | context::main;
        block.settings = &model.settings;
    }
    read_block(block, directives);
    return model;
}

void lose_argument(Block& block, const Directive& directive, std::string_view expected) {
    block.report.lose(
        directive, "has an argument that the draft cannot have; expected " + std::string{expected});
}

bool read_switch(Block& block, const Directive& directive) {
    const std::string& word = directive.args.front();
    if (word != "on" && word != "off")
        lose_argument(block, directive, "on or off");
    return word == "on";
}

std::string read_path(Block& block, const Directive& directive) {
    const std::string& path = directive.args.front();
    if (config::parse_file_path(path) && !has_variables(path))
        return path.starts_with('/') ? path : block.model.folder + '/' + path;
    lose_argument(block, directive, "the path of a file, without variables");
    return {};
}

} // namespace stint::import_nginx
