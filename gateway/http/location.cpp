#include "http/location.hpp"

#include "http/ascii.hpp"

#include <string_view>

namespace stint::http {

namespace {

// The characters that a URI may hold: unreserved ones, delimiters and "%"; brackets occur in IPv6
// literals.
constexpr ascii::CharSet uri{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%"};

class UriText {
  public:
    explicit UriText(HeadBuffer& out) : out_{out} {}

    UriText& operator<<(std::string_view text) {
        for (const char c : text)
            write(c);
        return *this;
    }

  private:
    void write(char c) {
        constexpr std::string_view hex = "0123456789ABCDEF";
        if (after_first_slash_ && c == '/')
            return;
        after_first_slash_ = at_start_ && c == '/';
        at_start_ = false;
        const auto byte = static_cast<unsigned char>(c);
        if (uri.contains(c))
            out_ << std::string_view{&c, 1};
        else
            out_ << "%" << hex.substr(byte >> 4U, 1) << hex.substr(byte & 15U, 1);
    }

    HeadBuffer& out_;
    bool at_start_ = true;
    bool after_first_slash_ = false; // only a leading "/" was written so far
};

} // namespace

void write_location(HeadBuffer& out, const TextTemplate& to, const PlaceholderValues& values) {
    UriText text{out};
    to.write(text, values);
}

} // namespace stint::http
