#include "config/values/file_values.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace stint::config {

Parsed<std::filesystem::path> parse_file_path(std::string_view text) {
    const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    });
    if (text.empty() || !printable || text.ends_with('/'))
        return ParseError{
            in_quotes(text) + " is not the path of a file; expected one such as shop.pem"};
    return std::filesystem::path{text};
}

std::string file_fault(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return " does not exist; expected a file, whose path is absolute or begins in the folder "
               "of the "
               "configuration";
    if (!std::filesystem::is_regular_file(status))
        return " is not a regular file; expected the path of one";
    return std::ifstream{path}
               ? ""
               : " cannot be read; expected a file that the user of this process may read";
}

std::string absolute_file(const std::string& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    if (error)
        return path;
    std::filesystem::path parts;
    for (const auto& part : absolute)
        if (part != ".")
            parts /= part;
    return parts.string();
}

void read_file(
    const Value& value, std::string_view what, const LoadState& loading, std::string& path) {
    const auto file =
        value.as(std::string{"the path of a file with "}.append(what), parse_file_path);
    if (!file)
        return;
    path = (loading.folder / *file).string();
    if (const std::string fault = file_fault(path); !fault.empty())
        value.wrong(in_quotes(path) + fault);
}

} // namespace stint::config
