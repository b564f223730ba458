// Who may come to an address that Stint listens on.
#include "config/load_parts.hpp"
#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <grp.h>
#include <utility>

namespace stint::config {

namespace {

struct Group {
    std::string name;
    std::uint32_t id = 0;
};

// As chmod(1) takes it: "0660" or "660".
Parsed<std::uint32_t> parse_mode(std::string_view text) {
    const bool octal = (text.size() == 3 || (text.size() == 4 && text.front() == '0')) &&
                       std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '7'; });
    if (!octal)
        return Wrong{
            in_quotes(text) + " is not a file's mode; expected three octal digits such as 0660"};
    std::uint32_t mode = 0;
    std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    return mode;
}

// A name that this machine knows, or a number.
Parsed<Group> parse_group(std::string_view text) {
    constexpr std::uint32_t no_group = 0xFFFFFFFF; // to chown(2): leave it
    Group group{std::string{text}};
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, group.id);
    if (failed == std::errc{} && rest == end && group.id != no_group)
        return group;
    std::array<char, 16 * 1024> memory{};
    struct group entry {};
    struct group* found = nullptr;
    getgrnam_r(group.name.c_str(), &entry, memory.data(), memory.size(), &found);
    if (found == nullptr)
        return Wrong{in_quotes(text) + " is no group of this machine; expected its name or number"};
    group.id = found->gr_gid;
    return group;
}

} // namespace

void read_socket_file(const Section& section, Address& address) {
    const auto mode = section.find("mode");
    if (mode)
        mode->into(address.mode, "a mode such as 0660", parse_mode);
    const auto group = section.find("group");
    if (group) {
        if (auto known = group->as("a group such as www-data", parse_group)) {
            address.group = std::move((*known).name);
            address.group_id = (*known).id;
        }
    }
    for (const std::string_view key : {"mode", "group"})
        if (section.find(key) && address.kind != Address::Kind::unix_socket)
            section.wrong_at(key, "is for the file of a Unix socket (unix:/path)");
}

} // namespace stint::config
