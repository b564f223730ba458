// Writes commands of the Redis protocol: arrays of bulk texts, the same in RESP2 and RESP3.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace stint::redis {

// Appends one command to a buffer. The buffer grows as needed, nothing else is allocated.
class CommandWriter {
  public:
    // arguments: the number of add() calls that follow, with the command's name; at least one.
    CommandWriter(std::string& out, std::size_t arguments) : out_{out} { head('*', arguments); }

    void add(std::string_view argument);
    // Adds the number as decimal text.
    template <std::integral Integer>
    void add(Integer number) {
        add_number(static_cast<std::int64_t>(number));
    }

  private:
    void head(char type, std::size_t number);
    void add_number(std::int64_t number);

    std::string& out_;
};

// Appends a command with these arguments; the first is its name.
void write_command(std::string& out, std::span<const std::string_view> arguments);

// Returns a command of these words; the first is its name.
[[nodiscard]] std::string command_of(std::initializer_list<std::string_view> words);

} // namespace stint::redis
