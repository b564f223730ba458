#include "transcript.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace stint::wire {
namespace {

bool equal_folded(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

struct Head {
    std::string_view start;
    std::vector<std::string_view> lines;
    std::size_t size = 0; // with its empty line

    [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const {
        for (const std::string_view line : lines)
            if (line.size() > name.size() && line[name.size()] == ':' &&
                equal_folded(line.substr(0, name.size()), name))
                return line.substr(std::min(line.size(), name.size() + 2));
        return std::nullopt;
    }
    [[nodiscard]] bool chunked() const { return field("Transfer-Encoding").has_value(); }
    [[nodiscard]] std::size_t length() const {
        std::size_t length = 0;
        const std::string_view text = field("Content-Length").value_or("0");
        std::from_chars(text.data(), text.data() + text.size(), length);
        return length;
    }
    [[nodiscard]] std::string_view status() const { return start.substr(9, 3); }
};

std::optional<Head> read_head(std::string_view bytes) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos)
        return std::nullopt;
    Head head;
    head.size = end + 4;
    std::string_view rest = bytes.substr(0, end + 2);
    const auto cut_line = [&rest] {
        const std::string_view line = rest.substr(0, rest.find("\r\n"));
        rest.remove_prefix(line.size() + 2);
        return line;
    };
    head.start = cut_line();
    while (!rest.empty())
        head.lines.push_back(cut_line());
    return head;
}

struct Body {
    std::string text;
    std::size_t size = 0;
    bool whole = false;
};

Body read_chunks(std::string_view bytes) {
    Body body;
    for (;;) {
        const std::size_t line_end = bytes.find("\r\n", body.size);
        if (line_end == std::string_view::npos)
            return body;
        std::size_t size = 0;
        std::from_chars(bytes.data() + body.size, bytes.data() + line_end, size, 16);
        if (size == 0) {
            const std::size_t end = bytes.find("\r\n\r\n", line_end);
            if (end == std::string_view::npos)
                return body;
            body.text += "<0>";
            if (end > line_end)
                body.text.append(bytes.substr(line_end + 2, end - line_end));
            body.size = end + 4;
            body.whole = true;
            return body;
        }
        body.text.append(bytes.substr(std::min(bytes.size(), line_end + 2), size));
        body.size = line_end + 2 + size + 2;
        if (body.size > bytes.size())
            return body;
    }
}

Body read_length(std::string_view bytes, std::size_t length) {
    const std::string_view payload = bytes.substr(0, length);
    return {std::string{payload}, payload.size(), payload.size() == length};
}

void add_line(std::string& text, std::string_view line) {
    text.append(line).append("\r\n");
}

// Whether an upstream is told this of any request.
bool is_usual(const Head& head, std::string_view line) {
    if (line == "X-Forwarded-For: 127.0.0.1" || line == "X-Forwarded-Proto: http" ||
        line == "Via: 1.1 stint")
        return true;
    constexpr std::string_view host = "X-Forwarded-Host: ";
    return line.starts_with(host) && head.field("Host") == line.substr(host.size());
}

// What the upstream itself is called, whatever its port.
bool names_endpoint(std::string_view line) {
    return line.starts_with("Host: 127.0.0.1:");
}

std::string text_of_request(const Head& head, bool whole_hops) {
    std::string text;
    add_line(text, head.start);
    for (const std::string_view line : head.lines) {
        const bool id = line.starts_with("X-Request-Id: ");
        if (names_endpoint(line))
            add_line(text, "Host: {endpoint}");
        else if (id && whole_hops)
            add_line(text, "X-Request-Id: {id}");
        else if (!id && (whole_hops || !is_usual(head, line)))
            add_line(text, line);
    }
    return text + "\r\n";
}

std::string text_of_response(const Head& head) {
    std::string text;
    if (head.field("Server") == "stint") {
        const bool close = head.field("Connection") == "close";
        text.append("<").append(head.status()).append(close ? " close>" : ">");
        return text;
    }
    add_line(text, head.start);
    for (const std::string_view line : head.lines)
        if (!line.starts_with("X-Request-Id: ") && !line.starts_with("Date: "))
            add_line(text, line);
    return text + "\r\n";
}

bool has_no_body(const Head& head, bool to_head) {
    return to_head || head.status()[0] == '1' || head.status() == "204" || head.status() == "304";
}

Body read_response_body(const Head& head, std::string_view bytes, bool to_head, bool ended) {
    if (head.status() == "101")
        return {std::string{bytes}, bytes.size(), true};
    if (has_no_body(head, to_head))
        return {{}, 0, true};
    if (head.chunked())
        return read_chunks(bytes);
    if (head.field("Content-Length"))
        return read_length(bytes, head.length());
    return {std::string{bytes}, bytes.size(), ended};
}

} // namespace

Requests read_requests(std::string_view bytes, Reading how) {
    Requests all;
    while (!bytes.empty()) {
        if (how.tunnel && all.whole == 1) {
            all.text += bytes;
            return all;
        }
        const auto head = read_head(bytes);
        if (!head) {
            all.text += "<cut>";
            return all;
        }
        ++all.heads;
        all.text += text_of_request(*head, how.whole_hops);
        bytes.remove_prefix(head->size);
        const Body body = head->chunked() ? read_chunks(bytes) : read_length(bytes, head->length());
        all.text += body.text;
        if (!body.whole) {
            all.text += "<cut>";
            return all;
        }
        ++all.whole;
        bytes.remove_prefix(body.size);
    }
    return all;
}

std::string read_responses(std::string_view bytes, bool head, bool ended) {
    std::string text;
    while (!bytes.empty()) {
        const auto response = read_head(bytes);
        if (!response) {
            text += "<cut>";
            break;
        }
        text += text_of_response(*response);
        bytes.remove_prefix(response->size);
        const Body body = read_response_body(*response, bytes, head, ended);
        if (response->field("Server") != "stint")
            text += body.text;
        if (!body.whole) {
            text += "<cut>";
            break;
        }
        bytes.remove_prefix(body.size);
    }
    return ended ? text + "<end>" : text;
}

} // namespace stint::wire
