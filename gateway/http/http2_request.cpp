#include "http/http2_request.hpp"

#include "http/ascii.hpp"
#include "http/request_tokens.hpp"

#include <algorithm>

namespace stint::http {
namespace {

// Cost of a field in addition to its bytes (RFC 9113 section 6.5.2).
constexpr std::size_t field_overhead = 32;

// A list of this many times its bound is not decoded to its end.
constexpr std::size_t absurd_factor = 4;

// Names in HTTP/2 are tokens in lower case (RFC 9113 section 8.2.1).
bool valid_name(std::string_view name) noexcept {
    static constexpr ascii::CharSet lower_token{
        "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"};
    return !name.empty() && lower_token.contains_all(name);
}

// A value in HTTP/1's text must not end its line. White space around it is no part of a value.
bool valid_value(std::string_view value) noexcept {
    bool forbidden = false;
    for (const char c : value) // without a branch for each byte
        forbidden |= ascii::is_forbidden_control(c);
    return !forbidden &&
           (value.empty() || (!ascii::is_blank(value.front()) && !ascii::is_blank(value.back())));
}

// Fields that HTTP/2 does not have (RFC 9113 section 8.2.2).
bool is_connection_field(FieldId id) noexcept {
    return id == FieldId::connection || id == FieldId::keep_alive ||
           id == FieldId::proxy_connection || id == FieldId::transfer_encoding ||
           id == FieldId::upgrade;
}

// True if a request without a body needs Content-Length: 0 over HTTP/1.1 (RFC 9110 section 8.6):
// some servers answer 411 otherwise. The end of a stream says the same over HTTP/2.
bool usually_has_body(std::string_view method) noexcept {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

} // namespace

void Http2Request::begin(const HeadBounds& bounds) noexcept {
    bounds_ = bounds;
    text_.clear();
    cookies_.clear();
    entries_.clear();
    method_ = scheme_ = path_ = authority_ = protocol_ = {};
    count_ = bytes_ = 0;
    error_.reset();
}

void Http2Request::shrink(std::size_t size) noexcept {
    if (text_.capacity() + cookies_.capacity() <= size)
        return;
    begin(bounds_);
    std::string{}.swap(text_); // an assignment of {} keeps the memory
    std::string{}.swap(cookies_);
}

// The first mistake is the one that is reported.
void Http2Request::note(const HeadError& error) noexcept {
    if (!error_)
        error_ = error;
}

Http2Request::Range Http2Request::put(std::string_view text) {
    const Range range{
        static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text.size()), true};
    text_ += text;
    return range;
}

Http2Request::Size Http2Request::count(std::string_view name, std::string_view value) noexcept {
    bytes_ += name.size() + value.size() + field_overhead;
    count_ += !name.starts_with(':') || name == ":authority" ? 1 : 0; // which becomes Host
    if (bytes_ <= bounds_.max_head && count_ <= bounds_.max_fields) [[likely]]
        return Size::within;
    const bool absurd =
        bytes_ / absurd_factor >= bounds_.max_head || count_ / absurd_factor >= bounds_.max_fields;
    return absurd ? Size::absurd : Size::exceeded;
}

Http2Request::Size Http2Request::add(std::string_view name, std::string_view value) {
    if (const Size size = count(name, value); size != Size::within) [[unlikely]] {
        note(
            {431, count_ > bounds_.max_fields ? "The head has too many fields."
                                              : "The request's fields are larger than max_head."});
        return size;
    }
    if (!valid_value(value)) [[unlikely]]
        note({400, "A header field's value is malformed."});
    else if (name.starts_with(':'))
        add_pseudo(name, value);
    else if (!valid_name(name))
        note({400, "A header field's name is malformed."});
    else if (name == "cookie") // split so that its parts compress (RFC 9113 section 8.2.3)
        cookies_.append(cookies_.empty() || value.empty() ? "" : "; ").append(value);
    else
        add_line(name, value);
    return Size::within;
}

void Http2Request::add_line(std::string_view name, std::string_view value) {
    Entry entry;
    entry.name = put(name);
    text_.append(": ", 2);
    entry.value = put(value);
    text_.append("\r\n", 2);
    entries_.push_back(entry);
}

void Http2Request::add_pseudo(std::string_view name, std::string_view value) {
    Range* const range = name == ":method"      ? &method_
                         : name == ":scheme"    ? &scheme_
                         : name == ":path"      ? &path_
                         : name == ":authority" ? &authority_
                         : name == ":protocol"  ? &protocol_
                                                : nullptr;
    if (range == nullptr)
        return note({400, "The request has a pseudo-field that is not known."});
    if (range->given)
        return note({400, "A pseudo-field is given more than once."});
    if (!entries_.empty() || !cookies_.empty())
        return note({400, "A pseudo-field follows the fields."});
    *range = put(value);
    text_ += "\r\n"; // so that bytes follow each text, as in HTTP/1
}

std::optional<HeadError>
Http2Request::finish(bool ends_stream, RequestHead& into, std::string_view websocket_key) {
    into = {};
    if (!error_ && !cookies_.empty())
        add_line("cookie", cookies_);
    if (!error_)
        settle_authority();
    given_ = entries_.size();
    if (!error_ && protocol_.given)
        write_upgrade(websocket_key);
    if (!error_ && view(path_).size() > bounds_.max_target)
        error_ = HeadError{414, "The request target is longer than max_target."};
    if (!error_)
        error_ = judge(ends_stream, into);
    if (error_)
        into = {};
    return error_;
}

// Checks what only HTTP/2 has, and makes the Host field of :authority (RFC 9113 section 8.3.1).
void Http2Request::settle_authority() {
    if (!ascii::token.contains_all(view(method_)) || method_.size == 0)
        return note({400, "The request has no :method, or a malformed one."});
    const bool connect = ascii::equals_folded(view(method_), "connect");
    if (protocol_.given && view(method_) != "CONNECT")
        return note({400, "The request has :protocol, and is no CONNECT."});
    if (connect && !protocol_.given)
        return; // it has neither scheme nor path, and is refused for what it is
    const std::string_view scheme = view(scheme_);
    if (!ascii::equals_folded(scheme, "http") && !ascii::equals_folded(scheme, "https"))
        return note({400, "The request's :scheme is neither http nor https."});
    if (!view(path_).starts_with('/') && view(path_) != "*")
        return note({400, "The request's :path is neither a path nor \"*\"."});
    bool has_host = false;
    bool empty = authority_.given && authority_.size == 0;
    for (const Entry& entry : entries_) {
        if (view(entry.name) != "host")
            continue;
        has_host = true;
        empty = empty || entry.value.size == 0;
        if (authority_.given && !ascii::same_folded(view(entry.value), view(authority_)))
            return note({400, "Host differs from :authority."});
    }
    if (empty) // HTTP/1 may have such a Host
        return note({400, "The request's authority is empty."});
    if (!has_host && authority_.given) {
        const std::string authority{view(authority_)};
        add_line("host", authority);
    }
}

// Makes of an extended CONNECT the request that HTTP/1.1 has for it (RFC 8441 section 5.1).
void Http2Request::write_upgrade(std::string_view websocket_key) {
    if (!ascii::equals_folded(view(protocol_), "websocket"))
        return note({501, "The :protocol is not websocket."});
    std::erase_if(entries_, [this](const Entry& entry) {
        return view(entry.name) == "sec-websocket-key"; // which means nothing here
    });
    given_ = entries_.size();
    method_ = put("GET");
    text_ += "\r\n";
    add_line("connection", "Upgrade");
    add_line("upgrade", "websocket");
    add_line("sec-websocket-key", websocket_key);
}

std::optional<HeadError> Http2Request::judge(bool ends_stream, RequestHead& into) {
    RequestTokens tokens;
    tokens.method = view(method_);
    tokens.target = view(path_);
    tokens.body_follows = !ends_stream && !protocol_.given;
    fields_.clear();
    fields_.reserve(entries_.size()); // tokens.control keeps pointers to them
    for (const Entry& entry : entries_) {
        const std::string_view name = view(entry.name);
        const Field& field =
            fields_.emplace_back(Field{id_of_field(name), name, view(entry.value)});
        if (fields_.size() <= given_ && is_connection_field(field.id))
            return HeadError{400, "The request has a field that HTTP/2 does not have."};
        tokens.ids.add(field.id);
        tokens.control.note(field);
    }
    if (const auto judged = judge_request(tokens, fields_, view(path_).substr(0, 0), into); !judged)
        return judged.error();
    if ((ends_stream || protocol_.given) && into.framing.has_body())
        return HeadError{400, "Content-Length states a body, and none follows."};
    if (ends_stream && into.framing.kind == BodyFraming::Kind::none &&
        usually_has_body(into.method))
        into.framing.kind = BodyFraming::Kind::length; // 0 bytes
    into.http2 = true;
    into.extended_connect = protocol_.given;
    return std::nullopt;
}

} // namespace stint::http
