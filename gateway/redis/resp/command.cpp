#include "redis/resp/command.hpp"

#include <charconv>

namespace stint::redis {
namespace {

constexpr std::size_t longest_number = 20; // digits of 2^64, or of -2^63 with its sign

} // namespace

void CommandWriter::add(std::string_view argument) {
    head('$', argument.size());
    out_.append(argument).append("\r\n");
}

void CommandWriter::head(char type, std::size_t number) {
    char text[1 + longest_number + 2];
    text[0] = type;
    char* end = std::to_chars(text + 1, text + 1 + longest_number, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out_.append(text, static_cast<std::size_t>(end - text));
}

void CommandWriter::add_number(std::int64_t number) {
    char text[longest_number];
    const char* const end = std::to_chars(text, text + sizeof text, number).ptr;
    add(std::string_view{text, static_cast<std::size_t>(end - text)});
}

void write_command(std::string& out, std::span<const std::string_view> arguments) {
    CommandWriter writer{out, arguments.size()};
    for (const std::string_view argument : arguments)
        writer.add(argument);
}

std::string command_of(std::initializer_list<std::string_view> words) {
    std::string command;
    write_command(command, {words.begin(), words.end()});
    return command;
}

} // namespace stint::redis
