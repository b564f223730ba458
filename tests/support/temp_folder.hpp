// A folder that goes with the object.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace stint::test {

class TempFolder {
  public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "stint-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TempFolder() { std::filesystem::remove_all(path_); }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    // Returns the path of a file in the folder, which need not exist.
    [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
    // Writes a file, and returns its path.
    [[nodiscard]] std::string write(std::string_view name, std::string_view text) const {
        std::ofstream{path_ / name, std::ios::binary} << text;
        return file(name);
    }
    [[nodiscard]] std::string read(std::string_view name) const {
        std::ifstream in{path_ / name, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

  private:
    std::filesystem::path path_;
};

} // namespace stint::test
