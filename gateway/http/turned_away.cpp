#include "http/turned_away.hpp"

#include "http/problem_writer.hpp"

#include <cstdint>

namespace stint::http {

void write_turned_away(
    HeadBuffer& out, std::string_view date, int status, std::string_view detail) {
    const auto write_body = [&](auto& sink) {
        write_problem_body(
            sink, MediaType::problem_json, status, {"about:blank", reason_phrase(status)},
            [&](auto& text) { text << detail; }, [](auto&) {});
    };
    Length length;
    write_body(length);
    out << "HTTP/1.1 " << static_cast<std::uint64_t>(status) << " " << reason_phrase(status)
        << "\r\nServer: stint\r\n";
    out.field("Date", date);
    out << "Content-Type: application/problem+json\r\nCache-Control: no-store\r\nContent-Length: "
        << std::uint64_t{length.bytes()} << "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";
    write_body(out);
}

} // namespace stint::http
