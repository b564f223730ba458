// A problem in each of the forms that a client may prefer. Internal to http/: sinks are anything
// with << for text and numbers.
#pragma once

#include "http/json_text.hpp"
#include "http/local_reply.hpp"
#include "http/media_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::http {

// A sink that only counts: a body's length stands before the body.
class Length {
  public:
    Length& operator<<(std::string_view text) noexcept {
        bytes_ += text.size();
        return *this;
    }
    Length& operator<<(std::uint64_t number) noexcept {
        do
            ++bytes_;
        while ((number /= 10) != 0);
        return *this;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::size_t bytes_ = 0;
};

template <class Out>
class JsonText {
  public:
    explicit JsonText(Out& out) : out_{out} {}
    JsonText& operator<<(std::string_view text) {
        write_json_text(out_, text);
        return *this;
    }
    JsonText& operator<<(std::uint64_t number) {
        out_ << number;
        return *this;
    }

  private:
    Out& out_;
};

template <class Out>
class HtmlText {
  public:
    explicit HtmlText(Out& out) : out_{out} {}
    HtmlText& operator<<(std::string_view text) {
        for (std::size_t at; (at = text.find_first_of("&<>\"")) != std::string_view::npos;) {
            out_ << text.substr(0, at) << entity(text[at]);
            text.remove_prefix(at + 1);
        }
        out_ << text;
        return *this;
    }
    HtmlText& operator<<(std::uint64_t number) {
        out_ << number;
        return *this;
    }

  private:
    static std::string_view entity(char c) noexcept {
        return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;";
    }

    Out& out_;
};

// RFC 9457: type and title are constants, without anything that needs an escape.
struct ProblemKind {
    std::string_view type;
    std::string_view title;
};

// write_detail(sink) writes one sentence or nothing; write_members(sink) further members of the
// JSON object, each with a comma in front.
template <class Out, class WriteDetail, class WriteMembers>
void write_problem_body(
    Out& out,
    MediaType media,
    int status,
    const ProblemKind& kind,
    WriteDetail write_detail,
    WriteMembers write_members) {
    const auto code = static_cast<std::uint64_t>(status);
    Length detail;
    write_detail(detail);
    switch (media) {
    case MediaType::problem_json: {
        out << R"({"type":")" << kind.type << R"(","title":")" << kind.title << R"(","status":)"
            << code;
        if (detail.bytes() > 0) {
            out << R"(,"detail":")";
            JsonText<Out> text{out};
            write_detail(text);
            out << "\"";
        }
        write_members(out);
        out << "}\n";
        return;
    }
    case MediaType::html: {
        const std::string_view reason = reason_phrase(status);
        out << "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" << code
            << " " << reason << "</title>\n<h1>" << code << " " << reason << "</h1>\n";
        if (detail.bytes() > 0) {
            out << "<p>";
            HtmlText<Out> text{out};
            write_detail(text);
            out << "</p>\n";
        }
        return;
    }
    case MediaType::plain:
        out << code << " " << reason_phrase(status) << "\n";
        if (detail.bytes() > 0) {
            write_detail(out);
            out << "\n";
        }
    }
}

} // namespace stint::http
