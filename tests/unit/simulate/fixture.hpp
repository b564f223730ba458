// What the tests of simulate/ share: lines of a log in few words.
#pragma once

#include "base/time.hpp"
#include "observe/json_line.hpp"
#include "temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>

namespace stint::simulate::test {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

using Folder = stint::test::TempFolder;

inline constexpr WallTime noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h};

inline std::string time_text(Duration since_noon) {
    std::string text;
    observe::append_rfc3339(text, noon + since_noon);
    return text;
}

// A forwarded GET; `more` replaces or adds members.
inline std::string line(Duration since_noon, const Json& more = Json::object()) {
    Json json{
        {"time", time_text(since_noon)},
        {"client", "192.0.2.1"},
        {"host", "shop.example"},
        {"route", "all"},
        {"method", "GET"},
        {"path", "/"},
        {"status", 200},
        {"decision", "forwarded"},
        {"duration_ms", 1.5}};
    json.update(more);
    return json.dump() + "\n";
}

} // namespace stint::simulate::test
