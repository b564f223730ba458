#include "check/source.hpp"

#include <cstdio>

namespace stint::check {

Source read_source(const std::string& file) {
    if (file != "-")
        return {file, config::read_text(file)};
    const std::string shown = "<stdin>";
    return {shown, config::read_text(*stdin, shown)};
}

Result<config::Config, config::ConfigErrors>
load(const Source& source, const config::Environment& environment) {
    if (!source.text)
        return source.text.error();
    return config::load_text(*source.text, source.shown, environment);
}

} // namespace stint::check
