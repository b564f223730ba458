// What happens on the wires, as a text that survives being cut, copied and joined: steps, each a
// line with a command and behind it the bytes that belong to it.
//
//   @n   another client connects and sends the bytes; it is the current one from now on
//   @H   the same, of a listener with `half_close: allow`
//   @c   the current client sends          @p   the next client is the current one
//   @h   it closes its sending side        @x   it closes        @r   it resets
//   @u   the current upstream connection sends; a new one becomes the current one by itself
//   @a   the next upstream connection is the current one
//   @e   it closes                         @k   it resets
//   @s   it stops reading, or goes on
//   @t   time passes: seconds in digits, at most 999
//
// "@+c": the gateway gets no turn between this step and the next. The line end before an "@" and
// the one behind the command belong to neither step; what stands before the first "@" is a @n.
#pragma once

#include <string_view>
#include <vector>

namespace stint::fuzz {

struct Step {
    char command = 'n';
    bool settle = true;
    std::string_view bytes;
};

// Views into `text`; at most 64 steps, the rest is ignored.
[[nodiscard]] std::vector<Step> parse_script(std::string_view text);

} // namespace stint::fuzz
