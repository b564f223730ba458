// A text of the configuration with placeholders for a request's data, such as "{client_ip}".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint {

// The known placeholders. Every value is safe in a header field, also a value that a client
// chooses: a host, a method token, or a path or query as a request target may have it.
enum class Placeholder : std::uint8_t { client_ip, host, method, path, query, request_id, route };

// Spelling of the placeholders, in the order of Placeholder. "{?query}" is the query with its "?",
// or nothing.
inline constexpr std::array<std::string_view, 7> placeholder_texts{
    "{client_ip}", "{host}", "{method}", "{path}", "{?query}", "{request_id}", "{route}"};
// Placeholders that fields and bodies may have, and those of a redirect's target.
inline constexpr std::array<std::string_view, 5> field_placeholders{
    "{client_ip}", "{host}", "{method}", "{request_id}", "{route}"};
inline constexpr std::array<std::string_view, 3> target_placeholders{
    "{host}", "{path}", "{?query}"};

// The values of one request's placeholders: views of text that must outlive the write.
class PlaceholderValues {
  public:
    std::string_view& operator[](Placeholder which) noexcept {
        return values_[static_cast<std::size_t>(which)];
    }
    std::string_view operator[](Placeholder which) const noexcept {
        return values_[static_cast<std::size_t>(which)];
    }

  private:
    std::array<std::string_view, placeholder_texts.size()> values_{};
};

// Immutable: split into pieces once, written for each request without allocation.
class TextTemplate {
  public:
    TextTemplate() = default;
    // Splits the text at its placeholders. Any other text in braces stays as it is.
    explicit TextTemplate(std::string_view text);

    [[nodiscard]] bool empty() const noexcept { return pieces_.empty() && rest_.empty(); }
    [[nodiscard]] bool has(Placeholder which) const noexcept;
    // Returns the text before the first placeholder.
    [[nodiscard]] std::string_view beginning() const noexcept {
        return pieces_.empty() ? rest_ : pieces_.front().before;
    }

    // Writes the text with these values. sink: an object with << for text.
    template <class Sink>
    void write(Sink& sink, const PlaceholderValues& values) const {
        for (const Piece& piece : pieces_)
            sink << std::string_view{piece.before} << values[piece.placeholder];
        sink << std::string_view{rest_};
    }

  private:
    struct Piece {
        std::string before;
        Placeholder placeholder;
    };
    std::vector<Piece> pieces_;
    std::string rest_; // text behind the last placeholder
};

} // namespace stint
