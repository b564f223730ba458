#include "redis/failure.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::redis {
namespace {

struct ErrorCodeKind {
    std::string_view code;
    Failure::Kind kind;
};

constexpr ErrorCodeKind error_kinds[] = {
    {"LOADING", Failure::Kind::loading},         {"READONLY", Failure::Kind::read_only},
    {"MASTERDOWN", Failure::Kind::primary_down}, {"NOREPLICAS", Failure::Kind::no_replicas},
    {"OOM", Failure::Kind::out_of_memory},       {"BUSY", Failure::Kind::script_running},
    {"NOAUTH", Failure::Kind::denied},           {"NOPERM", Failure::Kind::denied},
    {"WRONGPASS", Failure::Kind::denied},        {"NOSCRIPT", Failure::Kind::no_script},
    {"MOVED", Failure::Kind::redirected},        {"ASK", Failure::Kind::redirected},
};

} // namespace

Failure failure_of(const Value& error) {
    const std::string text = "redis: " + printable(error.text);
    const std::string_view code = code_of(error.text);
    for (const ErrorCodeKind& each : error_kinds)
        if (each.code == code)
            return {each.kind, text, Written::nothing};
    return {Failure::Kind::other_error, text, Written::all};
}

std::string printable(std::string_view bytes) {
    constexpr std::size_t longest = 200;
    std::string text{bytes.substr(0, longest)};
    std::ranges::replace_if(
        text,
        [](char byte) {
            const auto code = static_cast<unsigned char>(byte);
            return code < 0x20 || code >= 0x7f;
        },
        '?');
    return text;
}

std::string text_of(const ErrorCode& error) {
    std::string text = error.message();
    if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z')
        text.front() = static_cast<char>(text.front() - 'A' + 'a');
    return text;
}

} // namespace stint::redis
