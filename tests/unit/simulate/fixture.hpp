// What the tests of simulate/ share: a folder that goes away, and lines of a log in few words.
#pragma once

#include "base/time.hpp"
#include "observe/json_line.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace stint::simulate::test {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

class Folder {
  public:
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "stint-simulate-XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    // Writes a file and returns its path.
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        std::ofstream{path_ / name} << text;
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};

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
