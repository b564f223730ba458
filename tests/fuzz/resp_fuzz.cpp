// Replies of a Redis server: the same values however the bytes are cut, within the bounds, and the
// same again when they are written and read back. Commands: read back as they were written.
//
// Input: a byte that chooses the bounds, one for the size of pieces, then what the server sends.
#include "oracle.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/parser.hpp"
#include "resp_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::fuzz {

namespace {

using redis::Bounds;
using redis::ReplyParser;
using redis::Value;

constexpr Bounds all_bounds[] = {
    {},
    {.depth = 3, .text = 16, .elements = 8, .reply = 64},
    {.depth = 1, .text = 100, .elements = 100, .reply = 50},
    {.depth = 64, .text = 4, .elements = 64, .reply = 4096},
};

struct Parsed {
    std::string values; // as RESP3: a NaN is equal to itself then
    std::vector<Value> replies;
    std::string_view fault;
    std::size_t taken = 0; // by complete replies
};

struct Extent {
    std::size_t depth = 0;
    std::size_t elements = 0;
    std::size_t text = 0; // of all texts together
    std::size_t longest = 0;
};

Parsed parse(std::string_view bytes, const Bounds& bounds, std::size_t piece_size) {
    Parsed parsed;
    ReplyParser parser{bounds};
    std::size_t taken = 0;
    while (!bytes.empty() && parsed.fault.empty()) {
        const std::string copy{bytes.substr(0, piece_size)};
        bytes.remove_prefix(copy.size());
        for (std::string_view piece = copy; !piece.empty();) {
            const std::size_t before = piece.size();
            const ReplyParser::Status status = parser.feed(piece);
            taken += before - piece.size();
            if (status == ReplyParser::Status::malformed) {
                parsed.fault = parser.fault();
                require(!parsed.fault.empty(), "a malformed reply has a fault");
                break;
            }
            require(
                piece.empty() || status == ReplyParser::Status::complete,
                "an incomplete reply takes all bytes", copy);
            if (status == ReplyParser::Status::complete) {
                require(!parser.inside_reply(), "a complete reply is over");
                require(taken - parsed.taken <= bounds.reply, "a reply is within the bound", copy);
                parsed.taken = taken;
                parsed.replies.push_back(parser.take());
                test::append_resp3(parsed.values, parsed.replies.back());
            }
        }
    }
    return parsed;
}

void measure(const Value& value, Extent& extent, std::size_t depth) {
    extent.text += value.text.size();
    extent.longest = std::max(extent.longest, value.text.size());
    if (value.is_list())
        extent.depth = std::max(extent.depth, depth + 1);
    extent.elements += value.items.size();
    for (const Value& item : value.items)
        measure(item, extent, depth + 1);
}

void check_extent(const Value& value, const Bounds& bounds) {
    Extent extent;
    measure(value, extent, 0);
    require(extent.depth <= bounds.depth, "no reply is deeper than the bound");
    require(extent.elements <= bounds.elements, "no reply has more elements than the bound");
    require(extent.longest <= bounds.text, "no text is longer than the bound");
    require(extent.text <= bounds.reply, "no reply is larger than the bound");
}

// Room for what the canonical text adds: types and lengths that the server did not need to send.
void check_read_back(const Parsed& parsed) {
    const Bounds roomy{
        .depth = 64, .text = 2 << 20, .elements = 1 << 20, .reply = std::size_t{64} << 20};
    const Parsed again = parse(parsed.values, roomy, parsed.values.size());
    require(again.fault.empty(), "what is written can be read", parsed.values);
    require(again.values == parsed.values, "what is written is read back the same", parsed.values);
    require(again.taken == parsed.values.size(), "all of it is read", parsed.values);
}

void check_command(std::string_view bytes, std::size_t piece_size) {
    std::vector<std::string_view> arguments;
    for (std::string_view rest = bytes; !rest.empty() && arguments.size() < 100;) {
        arguments.push_back(rest.substr(0, piece_size));
        rest.remove_prefix(arguments.back().size());
    }
    if (arguments.empty())
        return;
    std::string command;
    redis::write_command(command, arguments);
    const Parsed parsed = parse(command, {}, command.size());
    require(parsed.replies.size() == 1, "a command is one array", command);
    const std::vector<Value>& items = parsed.replies.front().items;
    require(items.size() == arguments.size(), "a command has its arguments", command);
    for (std::size_t i = 0; i < items.size(); ++i)
        require(items[i].text == arguments[i], "an argument is read back", command);
}

void check(std::string_view input) {
    if (input.size() < 2)
        return;
    const Bounds& bounds = all_bounds[static_cast<unsigned char>(input[0]) % std::size(all_bounds)];
    const std::size_t piece_size = 1 + static_cast<unsigned char>(input[1]);
    input.remove_prefix(2);
    const Parsed whole = parse(input, bounds, input.size());
    for (const std::size_t size : {std::size_t{1}, piece_size}) {
        const Parsed cut = parse(input, bounds, size);
        require(cut.values == whole.values, "replies do not depend on the pieces", input);
        require(cut.fault == whole.fault, "a fault does not depend on the pieces", input);
    }
    for (const Value& reply : whole.replies)
        check_extent(reply, bounds);
    check_read_back(whole);
    check_command(input, piece_size);
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string input{reinterpret_cast<const char*>(bytes), size};
    stint::fuzz::check(input);
    return 0;
}
