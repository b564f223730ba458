#include "reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace stint::uploads {
namespace {

constexpr std::size_t longest_head = 4096;

// Printable, for a message.
std::string shown(std::string_view bytes) {
    std::string text = "\"";
    for (const char c : bytes.substr(0, 80))
        if (c == '\r')
            text += "\\r";
        else if (c == '\n')
            text += "\\n";
        else
            text += c >= ' ' && c < 127 ? c : '?';
    return text + "\"";
}

// The number at the end of "/plain/00000012".
std::uint64_t number_in(std::string_view path) {
    std::uint64_t id = 0;
    const std::string_view digits = path.substr(path.rfind('/') + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    return error == std::errc{} && end == digits.data() + digits.size() ? id : 0;
}

bool begins_well(std::string_view bytes) {
    constexpr std::string_view ways[] = {"PUT /plain/",  "PUT /retry/",  "PUT /wait/",
                                         "POST /plain/", "POST /retry/", "POST /wait/"};
    return std::any_of(std::begin(ways), std::end(ways), [&](std::string_view way) {
        return way.starts_with(bytes.substr(0, way.size()));
    });
}

} // namespace

void Reader::take(std::string_view bytes) {
    buffer_ += bytes;
    if (at_ == At::idle || at_ == At::head)
        read_head();
    if (at_ == At::body)
        read_body();
}

void Reader::next() {
    at_ = At::idle;
    read_head();
    if (at_ == At::body)
        read_body();
}

void Reader::lose(Wrong wrong, const std::string& what) {
    ledger_.report(wrong, what);
    at_ = At::lost;
    buffer_.clear();
}

void Reader::read_head() {
    if (buffer_.empty())
        return;
    at_ = At::head;
    if (!begins_well(buffer_) && !buffer_.starts_with("POST /forbidden"))
        return lose(Wrong::foreign, shown(buffer_));
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) {
        if (buffer_.size() > longest_head)
            lose(Wrong::foreign, "a head without an end: " + shown(buffer_));
        return;
    }
    const std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    read_request(head);
}

void Reader::read_request(std::string_view head) {
    const std::size_t line_end = head.find("\r\n");
    body_read_ = 0;
    in_chunk_ = false;
    if (!read_line(head.substr(0, line_end)))
        return;
    if (forged_) {
        const std::size_t at = head.find("X-Upload: ");
        asked_ = head.substr(at + 10, head.find("\r\n", at) - at - 10);
        at_ = At::whole; // it is answered, as a server would that knows no better
        return;
    }
    at_ = At::body;
    asked_ = number_of(upload_.id);
    times_before_ = ledger_.take(upload_);
    body_ = body_of(upload_);
    piece_left_ = upload_.chunked ? 0 : upload_.size;
    read_fields(head.substr(line_end + 2));
    if (upload_.id == 1 && !upload_.chunked)
        ledger_.head_growth = head.size() + 2 - head_of(upload_, 0).size();
}

bool Reader::read_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    const std::string_view target = line.substr(first + 1, second - first - 1);
    const std::string_view path = target.substr(0, target.find('?'));
    forged_ = path == "/forbidden";
    if (forged_) {
        ledger_.report(Wrong::smuggled, shown(line));
        return true;
    }
    const std::uint64_t id = number_in(path);
    if (id == 0 || id > ledger_.count || line.substr(second) != " HTTP/1.1") {
        lose(Wrong::foreign, shown(line));
        return false;
    }
    upload_ = make_upload(ledger_.seed, id);
    if (line.substr(0, first) == upload_.method && path == path_of(upload_))
        return true;
    lose(Wrong::foreign, shown(line));
    return false;
}

void Reader::read_fields(std::string_view lines) {
    // A value that is empty: any.
    const std::vector<std::array<std::string, 2>> wanted = {
        {"Host", "uploads.example"},
        {"X-Upload", asked_},
        {"X-Scope", std::to_string(upload_.scope)},
        {upload_.chunked ? "Transfer-Encoding" : "Content-Length",
         upload_.chunked ? "chunked" : std::to_string(upload_.size)},
        {"X-Forwarded-For", "127.0.0.1"},
        {"X-Forwarded-Proto", ""},
        {"X-Forwarded-Host", "uploads.example"},
        {"X-Request-Id", ""},
        {"Via", "1.1 stint"}};
    std::size_t found = 0;
    std::size_t count = 0;
    for (; !lines.empty(); ++count) {
        const std::size_t end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, end);
        found += static_cast<std::size_t>(
            std::count_if(wanted.begin(), wanted.end(), [line](const auto& field) {
                const std::string begin = field[0] + ": " + field[1];
                return field[1].empty() ? line.starts_with(begin) : line == begin;
            }));
        lines.remove_prefix(end + 2);
    }
    if (found != wanted.size() || count != wanted.size())
        ledger_.report(
            Wrong::head, path_of(upload_) + " came with " + std::to_string(count) +
                             " fields, of which " + std::to_string(found) + " are as they must be");
}

void Reader::read_body() {
    while (at_ == At::body) {
        if (piece_left_ > 0) {
            const std::size_t size = std::min(piece_left_, buffer_.size());
            take_payload(std::string_view{buffer_}.substr(0, size));
            buffer_.erase(0, size);
            if (size == 0 || at_ != At::body)
                return;
        } else if (!upload_.chunked) {
            end_body();
        } else if (!read_chunk_edge()) {
            return;
        }
    }
}

// The end of a chunk, the size of the next, the end of the last one. False: more is needed.
bool Reader::read_chunk_edge() {
    if (in_chunk_) {
        if (buffer_.size() < 2)
            return false;
        if (!buffer_.starts_with("\r\n")) {
            lose(Wrong::body, path_of(upload_) + ": a chunk is longer than its size says");
            return true;
        }
        buffer_.erase(0, 2);
        in_chunk_ = false;
    }
    const std::size_t end = buffer_.find("\r\n");
    if (end == std::string::npos && buffer_.size() < 20)
        return false;
    std::size_t size = 0;
    const char* const last = buffer_.data() + std::min(end, buffer_.size());
    const auto [stop, error] = std::from_chars(buffer_.data(), last, size, 16);
    if (error != std::errc{} || stop != last || end == std::string::npos) {
        lose(Wrong::body, path_of(upload_) + ": no size of a chunk: " + shown(buffer_));
        return true;
    }
    if (size == 0) {
        if (buffer_.size() < end + 4)
            return false;
        if (buffer_.compare(end, 4, "\r\n\r\n") != 0)
            lose(Wrong::body, path_of(upload_) + ": trailers, which nobody has sent");
        buffer_.erase(0, std::min(end + 4, buffer_.size()));
        if (at_ == At::body)
            end_body();
        return true;
    }
    buffer_.erase(0, end + 2);
    piece_left_ = size;
    in_chunk_ = true;
    return true;
}

void Reader::take_payload(std::string_view payload) {
    const std::string_view wanted = std::string_view{body_}.substr(body_read_, payload.size());
    if (payload == wanted) {
        body_read_ += payload.size();
        piece_left_ -= payload.size();
        return;
    }
    std::size_t good = 0;
    while (good < wanted.size() && payload[good] == wanted[good])
        ++good;
    const std::string_view other = payload.substr(good, 64);
    const std::size_t where = body_.find(other);
    std::string what = path_of(upload_) + ", a body of " + std::to_string(upload_.size) + ": at " +
                       std::to_string(body_read_ + good) + " comes ";
    what += where != std::string::npos ? "what belongs at " + std::to_string(where) : shown(other);
    lose(Wrong::body, what);
}

void Reader::end_body() {
    if (body_read_ != upload_.size)
        return lose(
            Wrong::body, path_of(upload_) + ": " + std::to_string(body_read_) + " of " +
                             std::to_string(upload_.size) + " bytes, as if that were all");
    at_ = At::whole;
}

void Reader::abandon() {
    if (std::exchange(at_, At::lost) != At::head)
        return;
    const std::size_t slash = buffer_.rfind('/', 12);
    const std::size_t begin = slash == std::string::npos ? buffer_.size() : slash + 1;
    if (buffer_.size() < begin + 8)
        return;
    const std::uint64_t id = number_in(std::string_view{buffer_}.substr(begin, 8));
    if (id == 0 || id > ledger_.count)
        return ledger_.report(Wrong::foreign, shown(buffer_));
    (void)ledger_.take(make_upload(ledger_.seed, id));
}

} // namespace stint::uploads
