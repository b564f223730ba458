#include "base/regex.hpp"

#include <algorithm>
#include <array>
#include <re2/re2.h>

namespace stint {

namespace {

using Pieces = std::array<re2::StringPiece, Regex::most_groups + 1>;

re2::StringPiece piece_of(std::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Compiles a pattern. Each byte counts as a character, because paths are ASCII.
std::shared_ptr<const re2::RE2> compiled(std::string_view pattern) {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    options.set_log_errors(false);
    options.set_max_mem(static_cast<std::int64_t>(Regex::max_memory));
    return std::make_shared<const re2::RE2>(piece_of(pattern), options);
}

bool match_whole(const re2::RE2& regex, std::string_view text, Pieces& pieces, int wanted) {
    return regex.Match(
        piece_of(text), 0, text.size(), re2::RE2::ANCHOR_BOTH, pieces.data(), wanted);
}

} // namespace

Result<Regex, Regex::Fault> Regex::compile(std::string_view pattern) {
    std::shared_ptr<const re2::RE2> regex = compiled(pattern);
    if (!regex->ok())
        return Fault{regex->error()};
    return Regex{std::move(regex)};
}

const std::string& Regex::pattern() const noexcept {
    return compiled_->pattern();
}

bool Regex::matches(std::string_view text) const {
    Pieces none;
    return match_whole(*compiled_, text, none, 0);
}

bool Regex::match_groups(std::string_view text, std::string_view to, Groups& groups) const {
    Pieces pieces;
    if (!match_whole(*compiled_, text, pieces, 1 + re2::RE2::MaxSubmatch(piece_of(to))))
        return false;
    std::transform(pieces.begin(), pieces.end(), groups.begin(), [](const re2::StringPiece& piece) {
        return std::string_view{piece.data(), piece.size()};
    });
    return true;
}

std::string Regex::rewrite_fault(std::string_view to) const {
    std::string why;
    if (!compiled_->CheckRewriteString(piece_of(to), &why) && why.empty())
        why = "it cannot be filled in";
    return why;
}

// Uses RE2's bounds: every matching text lies between `least` and `most`, compared by bytes.
bool Regex::may_begin_with(char first) const {
    constexpr int precision = 8; // bytes of each bound
    const auto whole = compiled(std::string{"^(?:"}.append(pattern()).append(")$"));
    std::string least;
    std::string most;
    if (!whole->ok() || !whole->PossibleMatchRange(&least, &most, precision))
        return true;
    const auto leading = [](const std::string& text) {
        return text.empty() ? 0 : int{static_cast<unsigned char>(text.front())};
    };
    const int wanted = static_cast<unsigned char>(first);
    return leading(least) <= wanted && wanted <= leading(most);
}

} // namespace stint
