// What the tests of import/ share.
#pragma once

#include "config/load.hpp"
#include "import/import.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx::test {

// Files in memory, by absolute path; "*" in a pattern stands for any rest of the name.
inline Sources files(std::map<std::string, std::string> all) {
    Sources sources;
    sources.folder = "/etc/nginx";
    sources.read = [all](const std::string& path) {
        const auto found = all.find(path);
        return found == all.end() ? FileText{.fault = "No such file or directory"}
                                  : FileText{.bytes = found->second};
    };
    sources.find = [all](const std::string& pattern) {
        const std::string begin = pattern.substr(0, pattern.find('*'));
        FoundFiles found;
        for (const auto& [path, text] : all)
            if (path.starts_with(begin))
                found.paths.push_back(path);
        if (begin.ends_with("/locked/"))
            found.fault = "Permission denied";
        return found;
    };
    return sources;
}

inline Imported imported(const std::string& text) {
    auto made = import_text(text, "nginx.conf", files({}));
    if (!made)
        FAIL(made.error().text());
    return *made;
}

inline const std::string forward = "location / { proxy_pass http://127.0.0.1:1; }\n";

// The directives of one server, in http { }.
inline Imported served(const std::string& server, const std::string& http = {}) {
    return imported("http {\n" + http + "\nserver {\n" + server + "\n} }\n");
}

// True if Stint accepts the draft.
inline bool is_valid(const Imported& made) {
    return config::load_text(made.draft, "draft").has_value();
}

inline std::vector<std::string> lost(const Imported& made) {
    std::vector<std::string> texts;
    for (const Finding& one : made.findings)
        if (one.lost)
            texts.push_back(one.text());
    return texts;
}

// True if something is listed as lost at this place, by these words.
inline bool loses(const Imported& made, const std::string& at, const std::string& why) {
    const auto all = lost(made);
    return std::ranges::any_of(all, [&](const std::string& one) {
        return one.starts_with("nginx.conf:" + at + ": ") && one.find(why) != std::string::npos;
    });
}

// True if a line of the draft, without its indentation, begins with the text.
inline bool has_line(const Imported& made, std::string_view text) {
    std::string_view rest = made.draft;
    while (!rest.empty()) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
        if (line.starts_with(text))
            return true;
    }
    return false;
}

inline void check_line(const Imported& made, const std::string& text) {
    INFO(made.draft);
    CAPTURE(text);
    CHECK(has_line(made, text));
}

} // namespace stint::import_nginx::test
