// Callers that ask an in-process gateway for permits.
#pragma once

#include "in_process_gateway.hpp"
#include "wire.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::test {

inline std::string
post(std::string_view path, std::string_view body, std::string_view fields = "") {
    std::string request{"POST "};
    request.append(path).append(" HTTP/1.1\r\nHost: localhost\r\nContent-Length: ");
    request.append(std::to_string(body.size())).append("\r\n").append(fields).append("\r\n");
    return request.append(body);
}

inline std::string take(std::string_view limit, std::string_view body = "") {
    return post("/v1/limits/" + std::string{limit} + "/take", body);
}

inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// The next answer, head and body.
inline std::string read_answer(Wire& wire) {
    std::string answer = wire.read_head();
    constexpr std::string_view name = "Content-Length: ";
    const std::size_t at = answer.find(name);
    return at == std::string::npos
               ? answer
               : answer + wire.read(std::stoul(answer.substr(at + name.size())));
}

inline std::string body_of(std::string_view answer) {
    return std::string{answer.substr(answer.find("\r\n\r\n") + 4)};
}

inline std::string ask(Wire& wire, std::string_view request) {
    wire.send(request);
    return read_answer(wire);
}

} // namespace stint::test
