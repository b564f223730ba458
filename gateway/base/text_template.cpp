#include "base/text_template.hpp"

#include <algorithm>

namespace stint {

TextTemplate::TextTemplate(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; (at = text.find('{', at)) != std::string_view::npos;) {
        const auto known = std::ranges::find_if(placeholder_texts, [&](std::string_view each) {
            return text.substr(at).starts_with(each);
        });
        if (known == placeholder_texts.end()) {
            ++at;
            continue;
        }
        const auto which = static_cast<Placeholder>(known - placeholder_texts.begin());
        pieces_.push_back({std::string{text.substr(begin, at - begin)}, which});
        begin = at += known->size();
    }
    rest_ = text.substr(begin);
}

bool TextTemplate::has(Placeholder which) const noexcept {
    return std::ranges::any_of(
        pieces_, [&](const Piece& piece) { return piece.placeholder == which; });
}

} // namespace stint
