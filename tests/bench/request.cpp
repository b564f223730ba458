#include "request.hpp"

#include "body.hpp"

namespace stint::bench {

namespace {

constexpr std::string_view mark = "{n}";
constexpr std::size_t digits = 8;

} // namespace

Request::Request(const RequestOptions& options) : distinct_(options.distinct) {
    text_ =
        (options.post > 0 ? "POST " : "GET ") + options.path + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& field : options.fields)
        text_ += field + "\r\n";
    if (options.post > 0)
        text_ += "Content-Length: " + std::to_string(options.post) + "\r\n";
    text_ += "\r\n";
    for (auto at = text_.find(mark); at != text_.npos; at = text_.find(mark, at)) {
        text_.replace(at, mark.size(), digits, '0');
        marks_.push_back(at);
    }
    text_ += body_of(options.post);
}

std::string_view Request::text(std::uint64_t number, std::string& own) const {
    if (marks_.empty())
        return text_;
    own = text_;
    for (const auto at : marks_) {
        auto rest = number % distinct_;
        for (auto digit = digits; digit-- > 0; rest /= 10)
            own[at + digit] = static_cast<char>('0' + rest % 10);
    }
    return own;
}

} // namespace stint::bench
