#include "runtime/watch/file_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <system_error>

namespace stint::runtime {
namespace {

constexpr int most_links = 40; // as the kernel follows

// Returns a field of mountinfo, where blanks and backslashes are "\040" and the like.
std::string without_escapes(std::string_view field) {
    std::string text;
    for (std::size_t at = 0; at < field.size(); ++at) {
        const std::string_view digits = field.substr(at).substr(0, 4);
        const auto octal = [](char c) { return c >= '0' && c <= '7'; };
        if (digits.size() == 4 && digits[0] == '\\' &&
            std::ranges::all_of(digits.substr(1), octal)) {
            text += static_cast<char>(
                (digits[1] - '0') * 64 + (digits[2] - '0') * 8 + (digits[3] - '0'));
            at += digits.size() - 1;
        } else {
            text += field[at];
        }
    }
    return text;
}

// Returns the fifth field of a line of mountinfo (proc(5)).
std::string mount_point_in(std::string_view line) {
    for (int skipped = 0; skipped < 4; ++skipped)
        line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    return without_escapes(line.substr(0, line.find(' ')));
}

} // namespace

std::vector<FileStep> steps_to(const std::filesystem::path& file) {
    std::vector<FileStep> steps;
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(file, error);
    std::list<std::filesystem::path> left{absolute.begin(), absolute.end()};
    std::filesystem::path at = "/";
    for (int links = 0; !left.empty() && links <= most_links;) {
        const std::filesystem::path name = left.front();
        left.pop_front();
        if (name.empty() || name == "." || name == "/")
            continue;
        if (name == "..") {
            at = at.parent_path();
            continue;
        }
        const auto status = std::filesystem::symlink_status(at / name, error);
        if (std::filesystem::is_symlink(status)) {
            ++links;
            steps.push_back({at.string(), name.string()});
            const std::filesystem::path target = std::filesystem::read_symlink(at / name, error);
            left.insert(left.begin(), target.begin(), target.end());
            if (target.is_absolute())
                at = "/";
        } else if (left.empty() || !std::filesystem::is_directory(status)) {
            steps.push_back({at.string(), name.string()});
            break;
        } else {
            at /= name;
        }
    }
    return steps;
}

std::vector<std::string>
single_file_mounts(std::string_view mountinfo, const std::vector<std::string>& files) {
    std::vector<std::string> found;
    while (!mountinfo.empty()) {
        const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
        mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
        const std::string point = line.empty() ? std::string{} : mount_point_in(line);
        if (std::ranges::find(files, point) != files.end() &&
            std::ranges::find(found, point) == found.end())
            found.push_back(point);
    }
    return found;
}

} // namespace stint::runtime
