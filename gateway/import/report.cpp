#include "import/report.hpp"

#include "config/yaml/diagnostics.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stint::import_nginx {

std::string plain_name(const std::string& name) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    const bool plain = !name.empty() && name.size() <= 60 && std::ranges::all_of(name, is_plain);
    return plain ? name : config::in_quotes(name);
}

std::string Finding::text() const {
    return at.text() + (lost ? ": " : ": note: ") + plain_name(directive) + ": " + why;
}

void Report::lose(const Directive& directive, std::string why) {
    add({directive.at, directive.name, std::move(why), true});
}

void Report::note(const Directive& directive, std::string why) {
    add({directive.at, directive.name, std::move(why), false});
}

void Report::add(Finding finding) {
    findings_.push_back(std::move(finding));
}

std::vector<Finding> Report::take() && {
    std::map<std::string, std::size_t> files; // by first appearance
    for (const Finding& one : findings_)
        files.try_emplace(*one.at.file, files.size());
    const auto key = [&files](const Finding& one) {
        return std::tuple{files.at(*one.at.file), one.at.line, one.at.column};
    };
    std::ranges::stable_sort(findings_, {}, key);
    const auto same = [](const Finding& a, const Finding& b) { return a.text() == b.text(); };
    findings_.erase(std::ranges::unique(findings_, same).begin(), findings_.end());
    return std::move(findings_);
}

} // namespace stint::import_nginx
