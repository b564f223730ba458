#include "config/diff/path.hpp"

namespace stint::config {

std::string path_text(const Path& path) {
    std::string text;
    for (const Step& step : path) {
        if (const std::string* const key = std::get_if<std::string>(&step))
            text.append(text.empty() ? "" : ".").append(*key);
        else
            text.append("[").append(std::to_string(std::get<std::size_t>(step))).append("]");
    }
    return text;
}

} // namespace stint::config
