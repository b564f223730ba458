#include "import/source_files.hpp"

#include "config/load.hpp"
#include "import/import.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <iostream>
#include <iterator>
#include <utility>

namespace stint::import_nginx {

namespace {

// Reads at most one byte more than a file may have, so that the parser refuses a larger one.
FileText read_from(std::istream& in) {
    std::string text(most_file_bytes + 1, '\0');
    errno = 0;
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad())
        return {.fault = std::strerror(errno)};
    text.resize(static_cast<std::size_t>(in.gcount()));
    return {.bytes = std::move(text)};
}

FileText read_file(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return {.fault = std::strerror(EISDIR)};
    errno = 0;
    std::ifstream in{path, std::ios::binary};
    if (!in)
        return {.fault = std::strerror(errno)};
    return read_from(in);
}

// Ends glob() at a folder that cannot be read: it leaves errno as it is.
int stop_at(const char*, int error) {
    errno = error;
    return 1;
}

FoundFiles find_files(const std::string& pattern) {
    glob_t matches{};
    FoundFiles found;
    errno = 0;
    const int ended = ::glob(pattern.c_str(), 0, stop_at, &matches);
    if (ended == GLOB_ABORTED || ended == GLOB_NOSPACE)
        found.fault = std::strerror(ended == GLOB_ABORTED && errno != 0 ? errno : ENOMEM);
    for (std::size_t i = 0; ended == 0 && i < matches.gl_pathc; ++i)
        found.paths.emplace_back(matches.gl_pathv[i]);
    ::globfree(&matches);
    return found;
}

} // namespace

Sources files_of(std::string folder) {
    return {.read = read_file, .find = find_files, .folder = std::move(folder)};
}

Ending run(const std::string& file, std::ostream& out, std::ostream& err) {
    const bool from_input = file == "-";
    const std::string shown = from_input ? "<stdin>" : file;
    const std::filesystem::path folder =
        from_input ? std::filesystem::current_path()
                   : std::filesystem::absolute(file).lexically_normal().parent_path();
    const auto text = from_input ? read_from(std::cin) : read_file(file);
    if (!text.fault.empty()) {
        err << shown << ":1:1: cannot be read: " << text.fault << '\n';
        return Ending::bad_input;
    }
    const auto imported = import_text(text.bytes, shown, files_of(folder.string()));
    if (!imported) {
        err << imported.error().text() << '\n';
        return Ending::bad_input;
    }
    for (const Finding& finding : imported->findings)
        err << finding.text() << '\n';
    // Files that it names and that are not here, such as certificates.
    const auto checked = config::load_text(imported->draft, "draft", {});
    if (!checked)
        for (const config::ConfigError& mistake : checked.error())
            err << mistake.text() << '\n';
    if (!(out << imported->draft << std::flush))
        return Ending::no_output;
    return imported->whole() && checked ? Ending::carried_over : Ending::lost_something;
}

} // namespace stint::import_nginx
