#include "import/draft/names.hpp"

namespace stint::import_nginx {

std::string slug(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-';
        if (good)
            out += c;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    }
    while (out.ends_with('_'))
        out.pop_back();
    return out;
}

std::string Names::take(std::string_view text, std::string_view otherwise) {
    constexpr std::size_t longest = 56; // with a number still a name
    std::string base = slug(text).substr(0, longest);
    if (base.empty())
        base = otherwise;
    std::string name = base;
    for (unsigned number = 2; !taken_.insert(name).second; ++number)
        name = base + '_' + std::to_string(number);
    return name;
}

} // namespace stint::import_nginx
