#include "http2_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <nghttp2/nghttp2.h>
#include <utility>
#include <vector>

namespace stint::wire {
namespace {

constexpr std::size_t frame_head = 9;
constexpr std::size_t largest_frame = 16'384;

constexpr std::uint8_t end_stream = 0x1;
constexpr std::uint8_t end_headers = 0x4;
constexpr std::uint8_t padded = 0x8;
constexpr std::uint8_t with_priority = 0x20;

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t id, std::string_view body) {
    std::string made;
    for (const int shift : {16, 8, 0})
        made += static_cast<char>(body.size() >> shift);
    made += static_cast<char>(type);
    made += static_cast<char>(flags);
    for (const int shift : {24, 16, 8, 0})
        made += static_cast<char>(id >> shift);
    return made.append(body);
}

// RFC 7541 section 5.1, with a prefix of seven bits.
std::string integer(std::size_t number) {
    constexpr std::size_t prefix = 127;
    if (number < prefix)
        return std::string(1, static_cast<char>(number));
    std::string made(1, static_cast<char>(prefix));
    for (number -= prefix; number >= 128; number /= 128)
        made += static_cast<char>(number % 128 + 128);
    return made + static_cast<char>(number);
}

// A field that no table knows of (RFC 7541 section 6.2.2), without Huffman's code.
std::string literal(std::string_view name, std::string_view value) {
    return std::string(1, '\0')
        .append(integer(name.size()))
        .append(name)
        .append(integer(value.size()))
        .append(value);
}

std::string lower(std::string_view text) {
    std::string made{text};
    std::ranges::transform(
        made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return made;
}

std::string_view trim(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && blank(text.back()))
        text.remove_suffix(1);
    return text;
}

struct Pair {
    std::string name;
    std::string value;
};

// A line with those that are folded into it.
std::string_view cut_line(std::string_view& text) {
    std::size_t end = text.find("\r\n");
    while (end != std::string_view::npos && end + 2 < text.size() &&
           (text[end + 2] == ' ' || text[end + 2] == '\t'))
        end = text.find("\r\n", end + 2);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? end : end + 2));
    return line;
}

struct Request {
    std::string method;
    std::string scheme = "http";
    std::string authority;
    std::string path;
    std::vector<Pair> fields;
    bool chunked = false;
};

void read_target(std::string_view target, Request& into) {
    const std::size_t scheme = target.find("://");
    if (lower(target.substr(0, scheme)) != "http" && lower(target.substr(0, scheme)) != "https") {
        into.path = target;
        return;
    }
    into.scheme = lower(target.substr(0, scheme));
    target.remove_prefix(scheme + 3);
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    into.authority = target.substr(0, end);
    into.path = target.substr(end);
    if (into.path.empty() && into.method == "OPTIONS")
        into.path = "*";
    else if (!into.path.starts_with('/'))
        into.path.insert(0, "/");
}

Request read_request(std::string_view head) {
    Request request;
    const std::string_view line = cut_line(head);
    const std::size_t method_end = std::min(line.find(' '), line.size());
    const std::size_t version = line.rfind(' ');
    request.method = line.substr(0, method_end);
    if (version != std::string_view::npos && version > method_end)
        read_target(line.substr(method_end + 1, version - method_end - 1), request);
    while (!head.empty()) {
        const std::string_view field = cut_line(head);
        const std::size_t colon = std::min(field.find(':'), field.size());
        Pair pair{
            lower(field.substr(0, colon)),
            std::string{trim(field.substr(std::min(field.size(), colon + 1)))}};
        if (pair.name == "transfer-encoding")
            request.chunked = true;
        else if (!field.empty() && !(pair.name == "connection" && pair.value == "TE"))
            request.fields.push_back(std::move(pair));
    }
    return request;
}

// Host is :authority, unless there are several.
void settle_host(Request& request) {
    const auto is_host = [](const Pair& each) { return each.name == "host"; };
    if (!request.authority.empty()) {
        std::erase_if(request.fields, is_host);
    } else if (std::ranges::count_if(request.fields, is_host) == 1) {
        const auto host = std::ranges::find_if(request.fields, is_host);
        request.authority = host->value;
        request.fields.erase(host);
    }
}

std::string list_of(const Request& request) {
    std::string list = literal(":method", request.method);
    if (!request.path.empty() && request.method != "CONNECT")
        list += literal(":scheme", request.scheme) + literal(":path", request.path);
    if (!request.authority.empty())
        list += literal(":authority", request.authority);
    for (const Pair& each : request.fields)
        list += literal(each.name, each.value);
    return list;
}

} // namespace

std::string Http2Writer::opening() {
    return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(NGHTTP2_SETTINGS, 0, 0, {});
}

std::string Http2Writer::acknowledgement() {
    return frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, {});
}

std::string Http2Writer::frames(std::string_view text) {
    text_ += text;
    out_.clear();
    while (!text_.empty()) {
        if (body_ != Body::none) {
            const std::size_t before = text_.size();
            write_body();
            if (text_.size() == before)
                break; // a chunk is cut off
            continue;
        }
        const std::size_t end = text_.find("\r\n\r\n");
        const std::string head = text_.substr(0, end);
        const bool whole = end != std::string::npos;
        text_.erase(0, whole ? end + 4 : end);
        write_head(head, whole);
    }
    return std::exchange(out_, {});
}

void Http2Writer::write_head(std::string_view head, bool whole) {
    id_ += 2;
    Request request = read_request(head);
    settle_host(request);
    const auto length = std::ranges::find(request.fields, "content-length", &Pair::name);
    left_ = 0;
    body_ = request.chunked ? Body::chunks : Body::none;
    if (length != request.fields.end()) {
        std::from_chars(length->value.data(), length->value.data() + length->value.size(), left_);
        body_ = left_ > 0 ? Body::length : Body::none;
    }
    const std::string list = list_of(request);
    std::uint8_t type = NGHTTP2_HEADERS;
    std::uint8_t flags = body_ == Body::none ? end_stream : 0;
    for (std::size_t at = 0; at == 0 || at < list.size(); at += largest_frame) {
        const bool last = at + largest_frame >= list.size();
        out_ += frame(
            type, static_cast<std::uint8_t>(flags | (last && whole ? end_headers : 0)), id_,
            std::string_view{list}.substr(at, largest_frame));
        type = NGHTTP2_CONTINUATION;
        flags = 0;
    }
}

void Http2Writer::write_data(std::string_view payload, bool last) {
    out_ += frame(NGHTTP2_DATA, last ? end_stream : 0, id_, payload);
}

// Writes what there is of the body, or one chunk of it.
void Http2Writer::write_body() {
    if (body_ == Body::length) {
        const std::string payload = text_.substr(0, left_);
        left_ -= payload.size();
        text_.erase(0, payload.size());
        write_data(payload, left_ == 0);
        body_ = left_ == 0 ? Body::none : body_;
        return;
    }
    const std::size_t line_end = text_.find("\r\n");
    std::size_t size = 0;
    std::from_chars(text_.data(), text_.data() + text_.size(), size, 16);
    if (line_end == std::string::npos || line_end + 2 + size + 2 > text_.size())
        return;
    if (size > 0) {
        write_data(std::string_view{text_}.substr(line_end + 2, size), false);
        text_.erase(0, line_end + 2 + size + 2);
        return;
    }
    body_ = Body::none;
    const std::size_t end = text_.find("\r\n\r\n", line_end);
    std::string_view trailers{text_};
    trailers = trailers.substr(0, end + 2).substr(line_end + 2);
    if (trailers.empty()) {
        write_data({}, true);
    } else {
        std::string list;
        while (!trailers.empty()) {
            const std::string_view line = cut_line(trailers);
            const std::size_t colon = line.find(':');
            list += literal(lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
        }
        out_ += frame(NGHTTP2_HEADERS, end_stream | end_headers, id_, list);
    }
    text_.erase(0, end + 4);
}

namespace {

struct Inflater {
    Inflater() { nghttp2_hd_inflate_new(&made); }
    ~Inflater() { nghttp2_hd_inflate_del(made); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    std::vector<Pair> fields(std::string_view list) const {
        std::vector<Pair> all;
        while (true) {
            nghttp2_nv field{};
            int flags = 0;
            const ssize_t used = nghttp2_hd_inflate_hd2(
                made, &field, &flags, reinterpret_cast<const std::uint8_t*>(list.data()),
                list.size(), 1);
            if (used < 0)
                return {{":status", "<hpack>"}};
            list.remove_prefix(static_cast<std::size_t>(used));
            if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
                all.push_back(
                    {{reinterpret_cast<const char*>(field.name), field.namelen},
                     {reinterpret_cast<const char*>(field.value), field.valuelen}});
            if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0)
                break;
        }
        nghttp2_hd_inflate_end_headers(made);
        return all;
    }

    nghttp2_hd_inflater* made = nullptr;
};

// What came on one stream.
struct Received {
    std::string text;
    std::string list;        // of a head that is not complete
    std::uint8_t flags = 0;  // of its HEADERS
    bool answered = false;   // its final head is there
    bool own = false;        // the gateway has answered itself
    bool has_length = false; // or none is needed
    bool ended = false;
    bool reset = false;
};

bool ends_without_body(std::string_view status) {
    return status == "204" || status == "304";
}

class Reader {
  public:
    explicit Reader(bool to_head) : to_head_{to_head} {}

    std::string read(std::string_view bytes, bool ended) {
        while (bytes.size() >= frame_head) {
            const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
            const std::size_t size = at(0) * 65'536U + at(1) * 256U + at(2);
            if (bytes.size() < frame_head + size)
                break;
            const std::uint32_t id = (at(5) & 0x7fU) << 24U | at(6) << 16U | at(7) << 8U | at(8);
            take(at(3), at(4), id, bytes.substr(frame_head, size));
            bytes.remove_prefix(frame_head + size);
        }
        std::string all;
        for (auto& [id, stream] : streams_) {
            finish(stream);
            all += stream.text;
        }
        if (goaway_)
            all += "<goaway>";
        return ended ? all + "<end>" : all;
    }

  private:
    static std::string_view without_padding(std::uint8_t flags, std::string_view body) {
        if ((flags & padded) != 0) {
            const auto padding = static_cast<std::uint8_t>(body.front());
            body = body.substr(1, body.size() - 1 - padding);
        }
        return body;
    }

    void take(std::uint8_t type, std::uint8_t flags, std::uint32_t id, std::string_view body) {
        if (type == NGHTTP2_GOAWAY) // its error code stands behind the last stream's number
            goaway_ = goaway_ || body.substr(4, 4) != std::string_view{"\0\0\0\0", 4};
        if (id == 0)
            return;
        Received& stream = streams_[id];
        if (type == NGHTTP2_HEADERS) {
            stream.flags = flags;
            stream.list = without_padding(flags, body);
            if ((flags & with_priority) != 0)
                stream.list.erase(0, 5);
        } else if (type == NGHTTP2_CONTINUATION) {
            stream.list += body;
        } else if (type == NGHTTP2_DATA) {
            if (!stream.own)
                stream.text += without_padding(flags, body);
            if ((flags & end_stream) != 0)
                end(stream, {});
        } else if (type == NGHTTP2_RST_STREAM) {
            stream.reset = true;
        }
        const bool head = type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION;
        if (head && (flags & end_headers) != 0)
            take_head(stream, inflater_.fields(std::exchange(stream.list, {})));
    }

    void take_head(Received& stream, const std::vector<Pair>& fields) const {
        const bool ends = (stream.flags & end_stream) != 0;
        if (stream.answered)
            return end(stream, fields);
        const std::string& status = fields.front().value;
        stream.answered = !status.starts_with('1');
        const auto named = [&](std::string_view name) {
            return std::ranges::find(fields, name, &Pair::name);
        };
        stream.own = named("server") != fields.end() && named("server")->value == "stint";
        if (stream.own) {
            stream.text += "<" + status + ">";
        } else {
            stream.text += "HTTP/1.1 " + status + "\r\n";
            for (std::size_t i = 1; i < fields.size(); ++i)
                if (fields[i].name != "x-request-id" && fields[i].name != "date")
                    stream.text += fields[i].name + ": " + fields[i].value + "\r\n";
            stream.text += "\r\n";
        }
        stream.has_length =
            named("content-length") != fields.end() || ends_without_body(status) || to_head_;
        if (ends)
            end(stream, {});
    }

    // HTTP/1 would have sent chunks where no length was stated.
    static void end(Received& stream, const std::vector<Pair>& trailers) {
        stream.ended = true;
        if (!stream.own && !stream.has_length)
            stream.text += "<0>";
        for (const Pair& each : trailers)
            stream.text += each.name + ": " + each.value + "\r\n";
    }

    static void finish(Received& stream) {
        if (stream.ended || (!stream.reset && !stream.answered))
            return;
        stream.text += stream.reset && stream.text.empty() ? "<reset>" : "<cut>";
    }

    Inflater inflater_;
    std::map<std::uint32_t, Received> streams_;
    const bool to_head_;
    bool goaway_ = false;
};

bool is_token(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

// A line that may begin with the rest of a body.
std::string canonical_line(std::string_view line) {
    const std::size_t status = line.find("HTTP/1.1 ");
    if (status != std::string_view::npos)
        return std::string{line.substr(0, status + 12)};
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::size_t name = colon;
    while (name > 0 && is_token(line[name - 1]))
        --name;
    return std::string{line.substr(0, name)}
        .append(lower(line.substr(name, colon - name)))
        .append(line.substr(colon));
}

template <class Keep>
std::string by_line(std::string_view text, Keep keep) {
    std::string made;
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        const std::string line = canonical_line(text.substr(0, end));
        const bool last = end == std::string_view::npos;
        if (keep(std::string_view{line}))
            made.append(line).append(last ? "" : "\r\n");
        text.remove_prefix(last ? text.size() : end + 2);
    }
    return made;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

} // namespace

std::string read_http2(std::string_view bytes, bool head, bool ended) {
    return Reader{head}.read(bytes, ended);
}

std::string canonical(std::string_view text) {
    return by_line(text, [](std::string_view) { return true; });
}

std::string canonical_response(std::string_view text) {
    std::string made = by_line(text, [](std::string_view line) {
        return !line.starts_with("connection: ") && !line.starts_with("transfer-encoding: ") &&
               !line.starts_with("keep-alive: ") && !line.starts_with("upgrade: ");
    });
    replace_all(made, " close>", ">");
    replace_all(made, "<end>", "");
    return made;
}

} // namespace stint::wire
