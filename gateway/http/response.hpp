// A response of the gateway's own, as a value. It is independent of the protocol: the code of a
// connection serialises it (response_writer.hpp for HTTP/1.1).
#pragma once

#include "http/head_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http {

// Reused by its owner: it grows to the largest response and allocates nothing after that.
class Response {
  public:
    enum class Content : std::uint8_t {
        whole, // the body is complete; its length is sent
        none,  // neither content nor a length: 204, 304
        begun  // the body is only begun; the rest follows until the stream ends
    };

    // Clears the response for reuse. type: the content type, a literal or a text of the
    // configuration; empty: none is sent.
    void begin(int status, std::string_view type) noexcept {
        status_ = status;
        content_type_ = type;
        content_ = Content::whole;
        no_store_ = false;
        names_server_ = false;
        fields_.clear();
        body_.clear();
    }
    void set_status(int status) noexcept { status_ = status; }
    void set_content_type(std::string_view type) noexcept { content_type_ = type; }
    void set_content(Content content) noexcept { content_ = content; }
    void set_no_store() noexcept { no_store_ = true; } // Cache-Control: no-store
    // Notes that one of the fields is Server, which replaces the gateway's own.
    void set_names_server() noexcept { names_server_ = true; }
    // Returns the buffer to add fields to, each as a line "Name: value" with CRLF. The connection
    // itself adds Date, Server, Content-Length and Connection.
    [[nodiscard]] HeadBuffer& fields() noexcept { return fields_; }
    [[nodiscard]] HeadBuffer& body() noexcept { return body_; }

    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] std::string_view content_type() const noexcept { return content_type_; }
    [[nodiscard]] Content content() const noexcept { return content_; }
    [[nodiscard]] bool no_store() const noexcept { return no_store_; }
    [[nodiscard]] bool names_server() const noexcept { return names_server_; }
    [[nodiscard]] std::string_view field_lines() const noexcept { return fields_.view(); }
    // Returns the body. For HEAD only its length is sent.
    [[nodiscard]] std::string_view body_text() const noexcept { return body_.view(); }

  private:
    int status_ = 200;
    Content content_ = Content::whole;
    bool no_store_ = false;
    bool names_server_ = false;
    std::string_view content_type_;
    HeadBuffer fields_;
    HeadBuffer body_;
};

// Calls visit(name, value) for each of the response's fields.
template <class Visit>
void for_each_field(const Response& response, Visit visit) {
    std::string_view rest = response.field_lines();
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        const std::size_t end = rest.find('\r', colon);
        visit(rest.substr(0, colon), rest.substr(colon + 2, end - colon - 2));
        rest.remove_prefix(end + 2);
    }
}

} // namespace stint::http
