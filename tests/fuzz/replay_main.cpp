// Runs a fuzzer's inputs once each, without libFuzzer: NAME FILE_OR_FOLDER...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& named) {
    if (!fs::is_directory(named))
        return {named};
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator{named})
        if (entry.is_regular_file())
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

bool replay(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    if (!in)
        return false;
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    // A copy of exactly that size: AddressSanitizer then sees whoever reads beyond it.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    (void)LLVMFuzzerTestOneInput(input.data(), input.size());
    return true;
}

} // namespace

int main(int count, char** arguments) {
    std::size_t replayed = 0;
    for (int i = 1; i < count; ++i) {
        for (const fs::path& file : files_of(arguments[i])) {
            std::fprintf(stderr, "%s\n", file.c_str()); // the last one is it, where this ends
            if (!replay(file))
                return 2;
            ++replayed;
        }
    }
    std::fprintf(stderr, "%zu inputs\n", replayed);
    return replayed > 0 ? 0 : 2;
}
