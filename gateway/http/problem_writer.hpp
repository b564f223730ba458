// Writes a problem in each form that a client may prefer. Internal to the code that writes local
// replies.
#pragma once

#include "http/head_buffer.hpp"
#include "http/json_text.hpp"
#include "http/local_reply.hpp"
#include "http/media_type.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace stint::http {

// A literal that needs no escape in any form, which the compiler checks. Most parts of a sentence
// are such literals, which saves escaping at run time.
struct PlainWords {
    consteval PlainWords(const char* literal) : text{literal} {
        if (!std::all_of(text.begin(), text.end(), is_plain) || text.empty())
            throw "has a character that some form escapes";
    }
    std::string_view text;

  private:
    static consteval bool is_plain(char c) {
        return is_plain_json(c) && c != '&' && c != '<' && c != '>';
    }
};

template <class Text>
concept TextToEscape = std::convertible_to<const Text&, std::string_view> && !std::is_array_v<Text>;

class JsonText {
  public:
    explicit JsonText(HeadBuffer& out) : out_{out} {}
    JsonText& operator<<(PlainWords words) {
        out_ << words.text;
        return *this;
    }
    template <TextToEscape Text>
    JsonText& operator<<(const Text& text) {
        write_json_text(out_, text);
        return *this;
    }
    JsonText& operator<<(std::uint64_t number) {
        out_ << number;
        return *this;
    }

  private:
    HeadBuffer& out_;
};

class HtmlText {
  public:
    explicit HtmlText(HeadBuffer& out) : out_{out} {}
    HtmlText& operator<<(PlainWords words) {
        out_ << words.text;
        return *this;
    }
    template <TextToEscape Text>
    HtmlText& operator<<(const Text& text) {
        std::string_view rest = text;
        for (std::size_t at; (at = rest.find_first_of("&<>\"")) != std::string_view::npos;) {
            out_ << rest.substr(0, at) << entity(rest[at]);
            rest.remove_prefix(at + 1);
        }
        out_ << rest;
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

    HeadBuffer& out_;
};

// Type and title of a problem (RFC 9457): constants that need no escape.
struct ProblemKind {
    std::string_view type;
    std::string_view title;
};

// Writes `before`, the output of write() and `after`; nothing at all if write() writes nothing.
template <class Write>
void write_between(HeadBuffer& out, std::string_view before, std::string_view after, Write write) {
    const std::size_t begin = out.size();
    out << before;
    const std::size_t inside = out.size();
    write();
    if (out.size() == inside)
        out.cut(begin);
    else
        out << after;
}

// Writes a problem's body. write_detail(sink) writes one sentence, or nothing, to a sink that has
// << for text and numbers. write_members(out) writes further members of the JSON object, each with
// a comma in front.
template <class WriteDetail, class WriteMembers>
void write_problem_body(
    HeadBuffer& out,
    MediaType media,
    int status,
    const ProblemKind& kind,
    WriteDetail write_detail,
    WriteMembers write_members) {
    const auto code = static_cast<std::uint64_t>(status);
    switch (media) {
    case MediaType::problem_json:
        out.add(R"({"type":")", kind.type, R"(","title":")", kind.title, R"(","status":)");
        out << code;
        write_between(out, R"(,"detail":")", "\"", [&] {
            JsonText text{out};
            write_detail(text);
        });
        write_members(out);
        out << "}\n";
        return;
    case MediaType::html: {
        const std::string_view reason = reason_phrase(status);
        out << "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" << code
            << " " << reason << "</title>\n<h1>" << code << " " << reason << "</h1>\n";
        write_between(out, "<p>", "</p>\n", [&] {
            HtmlText text{out};
            write_detail(text);
        });
        return;
    }
    case MediaType::plain:
        out << code << " " << reason_phrase(status) << "\n";
        write_between(out, {}, "\n", [&] { write_detail(out); });
    }
}

} // namespace stint::http
