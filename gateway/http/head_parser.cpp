// The only file that uses Boost.Beast: its basic_parser finds the tokens, and http/framing judges
// them.
#include "http/head_parser.hpp"

#include "http/ascii.hpp"
#include "http/field_names.hpp"
#include "http/framing.hpp"
#include "http/request_tokens.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace stint::http {

namespace {

namespace beast = boost::beast;

// Beast's own limit is this many bytes above max_head, so that the caller's limit applies first.
constexpr std::size_t limit_slack = 1024;

std::string_view std_view(beast::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Beast numbers the names that it knows, from 0 (an unknown one) to this one.
constexpr auto last_listed = beast::http::field::xref;

constexpr FieldId id_of_listed(beast::http::field field) noexcept {
    // clang-format off
    switch (field) {
    case beast::http::field::connection: return FieldId::connection;
    case beast::http::field::content_length: return FieldId::content_length;
    case beast::http::field::date: return FieldId::date;
    case beast::http::field::expect: return FieldId::expect;
    case beast::http::field::forwarded: return FieldId::forwarded;
    case beast::http::field::host: return FieldId::host;
    case beast::http::field::http2_settings: return FieldId::http2_settings;
    case beast::http::field::keep_alive: return FieldId::keep_alive;
    case beast::http::field::max_forwards: return FieldId::max_forwards;
    case beast::http::field::proxy_authenticate: return FieldId::proxy_authenticate;
    case beast::http::field::proxy_authentication_info: return FieldId::proxy_other;
    case beast::http::field::proxy_authorization: return FieldId::proxy_authorization;
    case beast::http::field::proxy_connection: return FieldId::proxy_connection;
    case beast::http::field::proxy_features: return FieldId::proxy_other;
    case beast::http::field::proxy_instruction: return FieldId::proxy_other;
    case beast::http::field::te: return FieldId::te;
    case beast::http::field::trailer: return FieldId::trailer;
    case beast::http::field::transfer_encoding: return FieldId::transfer_encoding;
    case beast::http::field::upgrade: return FieldId::upgrade;
    case beast::http::field::via: return FieldId::via;
    default: return FieldId::other;
    }
    // clang-format on
}

// The ids of all names that Beast knows. Looking one up is a load; the switch took 16 instructions.
constexpr auto listed_ids = [] {
    std::array<FieldId, static_cast<std::size_t>(last_listed) + 1> ids{};
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = id_of_listed(static_cast<beast::http::field>(i));
    return ids;
}();

FieldId field_id(beast::http::field field, std::string_view name) noexcept {
    if (field == beast::http::field::unknown)
        return unlisted_field(name);
    return listed_ids[static_cast<std::size_t>(field)];
}

HeadError explain(const beast::error_code& code) noexcept {
    using beast::http::error;
    if (code == error::bad_method)
        return {400, "The request line does not begin with a method."};
    if (code == error::bad_target)
        return {400, "The request target is empty or has a control character or a space."};
    if (code == error::bad_version)
        return {400, "The start line is malformed."};
    if (code == error::bad_field)
        return {400, "A header field's name is malformed."};
    if (code == error::bad_value)
        return {400, "A header field's value is malformed."};
    if (code == error::bad_content_length || code == error::multiple_content_length)
        return {400, "Content-Length is malformed, contradictory or beside Transfer-Encoding."};
    if (code == error::bad_transfer_encoding)
        return {400, "Transfer-Encoding is repeated or beside Content-Length."};
    if (code == error::header_limit)
        return {431, "The head is too long."};
    return {400, "The head is malformed."};
}

// True if the first line ends (request) or begins (response) with a well-formed but unsupported
// HTTP version: Beast refuses all but 1.0 and 1.1 with the same code as a malformed one.
bool has_other_version(std::string_view head, bool request) noexcept {
    constexpr std::size_t version_size = std::string_view{"HTTP/1.1"}.size();
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (line.size() < version_size)
        return false;
    const std::string_view version =
        line.substr(request ? line.size() - version_size : 0, version_size);
    return version.starts_with("HTTP/") && ascii::digit.contains(version[5]) && version[6] == '.' &&
           ascii::digit.contains(version[7]) && version != "HTTP/1.0" && version != "HTTP/1.1";
}

// Receives the tokens of one head as views into that head. A new one is made for every head:
// Beast's parser cannot be reset, but costs nothing to construct.
template <bool is_request>
class HeadSink final : public beast::http::basic_parser<is_request>, public RequestTokens {
  public:
    // fields: room for the parsed fields.
    HeadSink(std::string_view head, std::span<Field> fields) : head_{head}, room_{fields} {}

    // Parses the head. Returns the error, or nullptr.
    [[nodiscard]] const HeadError* parse(std::size_t header_limit) {
        this->header_limit(static_cast<std::uint32_t>(header_limit));
        this->body_limit(boost::none);
        this->skip(true);
        beast::error_code error;
        const std::size_t used =
            this->put(boost::asio::const_buffer{head_.data(), head_.size()}, error);
        if (!error && used == head_.size())
            return nullptr;
        if (!refused_)
            fault_ =
                error == beast::http::error::bad_version && has_other_version(head_, is_request)
                    ? HeadError{505, "Only HTTP/1.0 and HTTP/1.1 are supported."}
                    : explain(error);
        return &fault_;
    }

    std::string_view reason;
    int status = 0;

    [[nodiscard]] std::span<const Field> fields() const noexcept { return room_.first(count_); }

  private:
    using View = beast::string_view;
    using Error = beast::error_code;

    void on_request_impl(beast::http::verb, View verb, View uri, int version, Error&) override {
        method = std_view(verb);
        target = std_view(uri);
        minor_version = version - 10;
    }

    void on_response_impl(int code, View phrase, int version, Error&) override {
        status = code;
        reason = std_view(phrase);
        minor_version = version - 10;
    }

    void on_field_impl(beast::http::field id, View name, View value, Error& error) override {
        if (count_ == room_.size())
            return refuse({431, "The head has too many fields."}, error);
        if (is_folded(name, value))
            return refuse({400, "A header field is folded over several lines."}, error);
        const FieldId known = field_id(id, std_view(name));
        ids.add(known);
        Field& field = room_[count_++];
        field = {known, std_view(name), std_view(value)};
        control.note(field);
    }

    // True if the value was folded over several lines. An unfolded value follows its name within
    // the head after blanks at most; a folded one is joined in a buffer of Beast's, or begins after
    // a line end if its first line is empty.
    [[nodiscard]] bool is_folded(View name, View value) const noexcept {
        const char* begin = name.data() + name.size() + 1;
        if (value.data() == begin + 1 && *begin != '\r') [[likely]] // "Name: value"
            return false;
        if (std::less<>{}(value.data(), begin) ||
            std::less<>{}(head_.data() + head_.size(), value.data()))
            return true;
        for (; begin != value.data(); ++begin)
            if (*begin == '\r')
                return true;
        return false;
    }

    void refuse(const HeadError& fault, Error& error) noexcept {
        fault_ = fault;
        refused_ = true;
        error = beast::http::error::bad_field;
    }

    // The body is never shown to this parser.
    void on_header_impl(Error&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
    std::size_t on_body_impl(View, Error&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, View, Error&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, View, Error&) override { return 0; }
    void on_finish_impl(Error&) override {}

    std::string_view head_;
    std::span<Field> room_;
    std::size_t count_ = 0;
    HeadError fault_;
    bool refused_ = false;
};

Result<void, HeadError>
judge_response(const HeadSink<false>& sink, std::string_view method, ResponseHead& response) {
    if (sink.status < 100 || sink.status > 599)
        return HeadError{400, "The response's status is not from 100 to 599."};
    const auto framing = response_framing(sink.control, sink.minor_version, sink.status, method);
    if (!framing)
        return framing.error();
    const auto keep_alive = keeps_alive(sink.control, sink.fields(), sink.minor_version);
    if (!keep_alive)
        return keep_alive.error();

    response.status = sink.status;
    response.reason = sink.reason;
    response.minor_version = sink.minor_version;
    response.framing = *framing;
    response.keep_alive = *keep_alive && framing->kind != BodyFraming::Kind::until_close;
    response.ids = sink.ids;
    response.fields = sink.fields();
    return {};
}

} // namespace

FieldId id_of_field(std::string_view name) noexcept {
    return field_id(beast::http::string_to_field({name.data(), name.size()}), name);
}

struct HeadParser::Impl {
    std::size_t header_limit;
    std::vector<Field> fields; // room for the largest number of fields
    std::size_t max_response_fields;
    HeadError fault{};
};

HeadParser::HeadParser(std::size_t max_head, std::size_t max_fields)
    : impl_{std::make_unique<Impl>(Impl{
          std::min<std::size_t>(max_head, std::numeric_limits<std::int32_t>::max()) + limit_slack,
          std::vector<Field>(max_fields), max_fields})} {}

HeadParser::~HeadParser() = default;
HeadParser::HeadParser(HeadParser&&) noexcept = default;
HeadParser& HeadParser::operator=(HeadParser&&) noexcept = default;

void HeadParser::limit_response_fields(std::size_t max) noexcept {
    impl_->max_response_fields = std::min(max, impl_->fields.size());
}

Result<RequestHead, HeadError>
HeadParser::parse_request(std::string_view head, const RequestLimits& limits) {
    Result<RequestHead, HeadError> parsed{boost::system::in_place_value};
    const std::size_t most = std::min(limits.max_fields, impl_->fields.size());
    const std::span<Field> room = std::span{impl_->fields}.first(most);
    if (const HeadError* fault = parse_request(head, limits.max_target, room, *parsed))
        parsed = *fault;
    return parsed;
}

const HeadError* HeadParser::parse_request(
    std::string_view head,
    std::size_t max_target,
    std::span<Field> room,
    RequestHead& into) noexcept {
    HeadSink<true> sink{head, room};
    into.max_forwards.reset();
    if (const HeadError* fault = sink.parse(impl_->header_limit))
        impl_->fault = *fault;
    else if (sink.target.size() > max_target)
        impl_->fault = HeadError{414, "The request target is longer than max_target."};
    else if (const auto judged = judge_request(sink, sink.fields(), head.substr(0, 0), into);
             !judged)
        impl_->fault = judged.error();
    else
        return nullptr;
    return &impl_->fault;
}

Result<ResponseHead, HeadError>
HeadParser::parse_response(std::string_view head, std::string_view method) {
    Result<ResponseHead, HeadError> parsed{boost::system::in_place_value};
    if (const HeadError* fault = parse_response(head, method, *parsed))
        parsed = *fault;
    return parsed;
}

const HeadError* HeadParser::parse_response(
    std::string_view head, std::string_view method, ResponseHead& into) noexcept {
    HeadSink<false> sink{head, std::span{impl_->fields}.first(impl_->max_response_fields)};
    if (const HeadError* fault = sink.parse(impl_->header_limit))
        impl_->fault = *fault;
    else if (const auto judged = judge_response(sink, method, into); !judged)
        impl_->fault = judged.error();
    else
        return nullptr;
    return &impl_->fault;
}

} // namespace stint::http
