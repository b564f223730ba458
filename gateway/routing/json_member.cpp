#include "routing/json_member.hpp"

#include "http/ascii.hpp"

#include <cstdint>
#include <optional>

namespace stint::routing {

namespace {

namespace ascii = http::ascii;

constexpr unsigned deepest = 64;

// Reads a JSON text once, from its front. Every function returns false or nullopt if the text
// breaks the grammar; then no other function may be called.
class Reader {
  public:
    explicit Reader(std::span<char> text) : text_{text} {}

    [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }

    void skip_blanks() noexcept {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')
            ++at_;
    }

    bool take(char wanted) noexcept {
        if (at_end() || text_[at_] != wanted)
            return false;
        ++at_;
        return true;
    }

    // Reads a string, and decodes it in place, right after its opening quote.
    std::optional<JsonValue> string() noexcept {
        if (!take('"'))
            return std::nullopt;
        const std::size_t begin = at_;
        out_ = at_;
        while (!at_end()) {
            const char c = text_[at_++];
            if (c == '"')
                return JsonValue{begin, out_ - begin};
            if (static_cast<unsigned char>(c) < 0x20 || (c == '\\' && !escape()))
                return std::nullopt;
            if (c != '\\')
                text_[out_++] = c;
        }
        return std::nullopt;
    }

    // Reads any value. Returns the place of a scalar; size 0 for null, an object or an array.
    std::optional<JsonValue> value(unsigned depth) noexcept {
        switch (peek()) {
        case '"':
            return string();
        case '{':
            return nested(depth, '}', true);
        case '[':
            return nested(depth, ']', false);
        case 't':
            return word("true");
        case 'f':
            return word("false");
        case 'n': {
            const auto null = word("null");
            return null ? std::optional{JsonValue{}} : std::nullopt;
        }
        default:
            return number();
        }
    }

    // Reads an object. Returns the value of its member `name`; if it has none, the value of the
    // member behind the first dot of `name`, in the object that the part before the dot names. Size
    // 0 if there is no such value, or a name on the way occurs twice.
    std::optional<JsonValue> member(std::string_view name, unsigned depth) noexcept {
        const std::size_t dot = name.find('.');
        const std::string_view outer = name.substr(0, dot);
        Found whole;
        Found inside;
        if (!take('{'))
            return std::nullopt;
        skip_blanks();
        if (take('}'))
            return JsonValue{};
        if (depth == deepest)
            return std::nullopt;
        do {
            skip_blanks();
            const auto key = string();
            if (!key || !colon())
                return std::nullopt;
            const bool enters = dot != std::string_view::npos && text_of(*key) == outer;
            const bool into = enters && peek() == '{';
            const auto read = into ? member(name.substr(dot + 1), depth + 1) : value(depth + 1);
            if (!read)
                return std::nullopt;
            if (enters)
                inside.note(into ? *read : JsonValue{});
            else if (text_of(*key) == name)
                whole.note(*read);
            skip_blanks();
        } while (take(','));
        if (!take('}'))
            return std::nullopt;
        return whole.times > 0 ? whole.only() : inside.only();
    }

    // Consumes the colon between a name and its value.
    bool colon() noexcept {
        skip_blanks();
        const bool there = take(':');
        skip_blanks();
        return there;
    }

  private:
    // Counts the members of an object that have one name, and keeps the value of the last.
    struct Found {
        JsonValue last;
        unsigned times = 0;

        void note(JsonValue value) noexcept {
            last = value;
            ++times;
        }
        [[nodiscard]] JsonValue only() const noexcept { return times == 1 ? last : JsonValue{}; }
    };

    [[nodiscard]] std::string_view text_of(const JsonValue& place) const noexcept {
        return {text_.data() + place.begin, place.size};
    }

    // Returns the next character; at the end NUL, which no grammar rule expects.
    [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }

    std::optional<JsonValue> word(std::string_view wanted) noexcept {
        const std::size_t begin = at_;
        for (const char c : wanted)
            if (!take(c))
                return std::nullopt;
        return JsonValue{begin, wanted.size()};
    }

    bool digits() noexcept {
        const std::size_t begin = at_;
        while (ascii::digit.contains(peek()))
            ++at_;
        return at_ > begin;
    }

    std::optional<JsonValue> number() noexcept {
        const std::size_t begin = at_;
        take('-');
        bool good = take('0') || digits();
        if (take('.'))
            good = digits() && good;
        if (take('e') || take('E')) {
            if (!take('+'))
                take('-');
            good = digits() && good;
        }
        return good ? std::optional{JsonValue{begin, at_ - begin}} : std::nullopt;
    }

    std::optional<JsonValue> nested(unsigned depth, char close, bool named) noexcept {
        ++at_;
        skip_blanks();
        if (take(close))
            return JsonValue{};
        if (depth == deepest)
            return std::nullopt;
        do {
            skip_blanks();
            if (named && !(string() && colon()))
                return std::nullopt;
            if (!value(depth + 1))
                return std::nullopt;
            skip_blanks();
        } while (take(','));
        return take(close) ? std::optional{JsonValue{}} : std::nullopt;
    }

    std::optional<std::uint32_t> hex4() noexcept {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const int digit = ascii::hex_value(peek());
            if (digit < 0)
                return std::nullopt;
            code = code * 16 + static_cast<std::uint32_t>(digit);
            ++at_;
        }
        return code;
    }

    bool escape() noexcept {
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const char c = peek();
        if (at_end())
            return false;
        ++at_;
        if (c == 'u')
            return escaped_code();
        const std::size_t which = names.find(c);
        if (which == std::string_view::npos)
            return false;
        text_[out_++] = meanings[which];
        return true;
    }

    // Decodes "\uXXXX", or a surrogate pair of these. The UTF-8 is shorter than the escape, so it
    // fits.
    bool escaped_code() noexcept {
        auto code = hex4();
        if (!code || (*code >= 0xDC00 && *code < 0xE000))
            return false;
        if (*code >= 0xD800 && *code < 0xDC00) {
            if (!take('\\') || !take('u'))
                return false;
            const auto low = hex4();
            if (!low || *low < 0xDC00 || *low >= 0xE000)
                return false;
            code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
        }
        put_utf8(*code);
        return true;
    }

    void put_utf8(std::uint32_t code) noexcept {
        const auto put = [this](std::uint32_t byte) { text_[out_++] = static_cast<char>(byte); };
        if (code < 0x80)
            return put(code);
        if (code < 0x800) {
            put(0xC0U | code >> 6U);
        } else {
            if (code < 0x10000) {
                put(0xE0U | code >> 12U);
            } else {
                put(0xF0U | code >> 18U);
                put(0x80U | (code >> 12U & 0x3FU));
            }
            put(0x80U | (code >> 6U & 0x3FU));
        }
        put(0x80U | (code & 0x3FU));
    }

    std::span<char> text_;
    std::size_t at_ = 0;
    std::size_t out_ = 0; // end of the decoded text of the string that is being read
};

} // namespace

JsonValue json_member(std::span<char> text, std::string_view name) noexcept {
    Reader reader{text};
    reader.skip_blanks();
    const auto found = reader.member(name, 0);
    reader.skip_blanks();
    return found && reader.at_end() ? *found : JsonValue{};
}

} // namespace stint::routing
