#include "redis/resp/parser.hpp"

#include "redis/resp/numbers.hpp"

#include <algorithm>
#include <utility>

namespace stint::redis {
namespace {

constexpr std::size_t most_reserved_elements = 64;
constexpr std::size_t most_reserved_text = 4096;
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view format_sample = "txt:"; // a verbatim text begins with a format so long

constexpr std::string_view bad_end = "a line does not end with CRLF";
constexpr std::string_view bad_type = "a value has an unknown type";
constexpr std::string_view bad_number = "a number is malformed";
constexpr std::string_view bad_length = "a length is malformed";
constexpr std::string_view bad_verbatim = "a verbatim text has no format";
constexpr std::string_view nested_push = "a push message is inside another value";
constexpr std::string_view too_deep = "a reply is nested deeper than the bound";
constexpr std::string_view too_long = "a text is longer than the bound";
constexpr std::string_view too_many = "a reply has more elements than the bound";
constexpr std::string_view too_large = "a reply is larger than the bound";

Value::Kind text_kind(char type) noexcept {
    return type == '$'   ? Value::Kind::bulk
           : type == '=' ? Value::Kind::verbatim
                         : Value::Kind::error;
}

Value::Kind container_kind(char type) noexcept {
    return type == '*'   ? Value::Kind::array
           : type == '~' ? Value::Kind::set
           : type == '>' ? Value::Kind::push
                         : Value::Kind::map;
}

} // namespace

ReplyParser::ReplyParser(const Bounds& bounds) : bounds_{bounds} {
    open_.reserve(bounds.depth);
}

ReplyParser::Status ReplyParser::feed(std::string_view& bytes) {
    Status status = fault_.empty() ? Status::incomplete : Status::malformed;
    while (status == Status::incomplete && !bytes.empty())
        status = text_size_ ? feed_text(bytes) : feed_line(bytes);
    if (status == Status::complete)
        elements_ = taken_ = 0;
    return status;
}

ReplyParser::Status ReplyParser::feed_line(std::string_view& bytes) {
    const std::size_t found = bytes.find('\n');
    const std::size_t size = found == std::string_view::npos ? bytes.size() : found + 1;
    // The bound that is breached first, whatever the pieces are.
    const std::size_t room_in_line = 1 + bounds_.text + line_end.size() - line_.size();
    const std::size_t room_in_reply = bounds_.reply - taken_;
    if (size > std::min(room_in_line, room_in_reply))
        return refuse(room_in_line <= room_in_reply ? too_long : too_large);
    std::string_view line = bytes.substr(0, size);
    taken(bytes, size);
    if (found == std::string_view::npos || !line_.empty())
        line_.append(line);
    if (found == std::string_view::npos)
        return Status::incomplete;
    if (!line_.empty())
        line = line_;
    if (line.size() < line_end.size() || line.find('\r') != line.size() - line_end.size())
        return refuse(bad_end);
    line.remove_suffix(line_end.size());
    const Status status = on_line(line);
    line_.clear();
    return status;
}

ReplyParser::Status ReplyParser::on_line(std::string_view line) {
    if (line.empty())
        return refuse(bad_type);
    const char type = line.front();
    line.remove_prefix(1);
    switch (type) {
    case '$':
    case '=':
    case '!':
        return begin_text(type, line);
    case '*':
    case '%':
    case '~':
    case '>':
    case '|':
        return begin_container(type, line);
    default:
        return on_simple(type, line);
    }
}

// A value that is a line.
ReplyParser::Status ReplyParser::on_simple(char type, std::string_view content) {
    switch (type) {
    case '+':
        return place({.kind = Value::Kind::simple, .text = std::string{content}});
    case '-':
        return place({.kind = Value::Kind::error, .text = std::string{content}});
    case ':':
        if (const auto number = parse_integer(content))
            return place({.kind = Value::Kind::integer, .integer = *number});
        return refuse(bad_number);
    case ',':
        if (const auto number = parse_real(content))
            return place({.kind = Value::Kind::real, .real = *number});
        return refuse(bad_number);
    case '(':
        if (is_decimal(content))
            return place({.kind = Value::Kind::big_number, .text = std::string{content}});
        return refuse(bad_number);
    case '#':
        if (content == "t" || content == "f")
            return place({.kind = Value::Kind::boolean, .integer = content == "t" ? 1 : 0});
        return refuse(bad_number);
    case '_':
        return content.empty() ? place({}) : refuse(bad_length);
    default:
        return refuse(bad_type);
    }
}

ReplyParser::Status ReplyParser::begin_text(char type, std::string_view content) {
    if (type == '$' && content == "-1")
        return place({});
    const auto size = parse_length(content);
    if (!size)
        return refuse(bad_length);
    if (*size > bounds_.text)
        return refuse(too_long);
    if (*size + line_end.size() > bounds_.reply - taken_)
        return refuse(too_large);
    text_type_ = type;
    text_size_ = *size + line_end.size();
    text_ = {.kind = text_kind(type)};
    text_.text.reserve(std::min(*text_size_, most_reserved_text));
    return Status::incomplete;
}

ReplyParser::Status ReplyParser::feed_text(std::string_view& bytes) {
    const std::size_t size = std::min(bytes.size(), *text_size_ - text_.text.size());
    text_.text.append(bytes.substr(0, size));
    taken(bytes, size);
    return text_.text.size() == *text_size_ ? end_text() : Status::incomplete;
}

ReplyParser::Status ReplyParser::end_text() {
    std::string& text = text_.text;
    if (!text.ends_with(line_end))
        return refuse(bad_end);
    text.resize(text.size() - line_end.size());
    if (text_type_ == '=') {
        if (text.size() < format_sample.size() || text[format_sample.size() - 1] != ':')
            return refuse(bad_verbatim);
        text.erase(0, format_sample.size());
    }
    text_size_.reset();
    return place(std::move(text_));
}

ReplyParser::Status ReplyParser::begin_container(char type, std::string_view content) {
    if (type == '*' && content == "-1")
        return place({});
    const auto length = parse_length(content);
    if (!length)
        return refuse(bad_length);
    if (type == '>' && !open_.empty())
        return refuse(nested_push);
    const bool pairs = type == '%' || type == '|';
    if (*length > (bounds_.elements - elements_) / (pairs ? 2 : 1))
        return refuse(too_many);
    if (open_.size() == bounds_.depth)
        return refuse(too_deep);
    const std::size_t count = *length * (pairs ? 2 : 1);
    elements_ += count;
    Value value{.kind = container_kind(type)};
    if (count == 0)
        return type == '|' ? Status::incomplete : place(std::move(value));
    value.items.reserve(std::min(count, most_reserved_elements));
    open_.push_back({std::move(value), count, type == '|'});
    return Status::incomplete;
}

// Puts a complete value where it belongs, and closes the containers that it completes.
ReplyParser::Status ReplyParser::place(Value value) {
    while (!open_.empty()) {
        Container& container = open_.back();
        container.value.items.push_back(std::move(value));
        if (--container.missing > 0)
            return Status::incomplete;
        value = std::move(container.value);
        const bool attribute = container.attribute;
        open_.pop_back();
        if (attribute)
            return Status::incomplete;
    }
    reply_ = std::move(value);
    return Status::complete;
}

ReplyParser::Status ReplyParser::refuse(std::string_view fault) noexcept {
    fault_ = fault;
    return Status::malformed;
}

void ReplyParser::taken(std::string_view& bytes, std::size_t size) noexcept {
    bytes.remove_prefix(size);
    taken_ += size;
}

} // namespace stint::redis
