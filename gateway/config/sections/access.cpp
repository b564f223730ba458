// Reads the keys of a listener about access: address, mode and group of its Unix socket file, Host
// names (hosts) and token_file.
#include "config/fields/shared_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/file_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <grp.h>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace stint::config {

namespace {

// Returns true if the addresses are equal. Two addresses with port 0 are not equal, because the
// kernel chooses a port for each.
bool same_place(const Address& a, const Address& b) {
    const bool chosen_by_kernel = a.kind == Address::Kind::ip && a.port == 0;
    return !chosen_by_kernel && a.kind == b.kind && a.host == b.host && a.port == b.port;
}

void check_free(const Value& value, const Address& address, const LoadState& loading) {
    const Config& config = loading.config;
    const bool taken =
        std::any_of(
            config.listeners.begin(), config.listeners.end(),
            [&](const Listener& other) { return same_place(address, other.address); }) ||
        (config.admin && same_place(address, config.admin->address));
    if (taken)
        value.wrong(
            in_quotes(address.text) +
            " is the address of another listener already; expected another address");
}

// Returns the reason why the file has no token; "" if it has one. Does not keep the token.
std::string token_fault(const std::filesystem::path& path) {
    if (std::string fault = file_fault(path); !fault.empty())
        return fault;
    std::ifstream in{path};
    std::string token;
    return in >> token ? "" : " is empty; expected a token";
}

struct Group {
    std::string name;
    std::uint32_t id = 0;
};

// Parses file permissions in octal digits, as for chmod(1): "0660" or "660".
Parsed<std::uint32_t> parse_mode(std::string_view text) {
    const bool octal = (text.size() == 3 || (text.size() == 4 && text.front() == '0')) &&
                       std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '7'; });
    if (!octal)
        return ParseError{
            in_quotes(text) + " is not a file's mode; expected three octal digits such as 0660"};
    std::uint32_t mode = 0;
    std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    return mode;
}

// Looks up group.name and sets group.id. Returns nullopt, or the error to report if there is no
// such group or the lookup fails. The buffer grows until the group's entry fits, because an entry
// lists all members.
std::optional<std::string> look_up(Group& group) {
    constexpr std::size_t longest_entry = 1024 * 1024;
    int error = ERANGE;
    for (std::size_t size = 16 * 1024; error == ERANGE && size <= longest_entry; size *= 4) {
        std::vector<char> memory(size);
        struct group entry {};
        struct group* found = nullptr;
        error = getgrnam_r(group.name.c_str(), &entry, memory.data(), memory.size(), &found);
        if (found != nullptr) {
            group.id = found->gr_gid;
            return std::nullopt;
        }
    }
    if (error == ERANGE)
        return "cannot be looked up: a group has an entry of more than 1 MiB";
    if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO)
        return "cannot be looked up: " + std::generic_category().message(error);
    return "is no group of this machine; expected its name or number";
}

// Parses the name of a group on this machine, or a group id.
Parsed<Group> parse_group(std::string_view text) {
    constexpr std::uint32_t no_group = 0xFFFFFFFF; // for chown(2): leave the group unchanged
    Group group{std::string{text}};
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, group.id);
    if (failed == std::errc{} && rest == end && group.id != no_group)
        return group;
    if (const auto mistake = look_up(group))
        return ParseError{in_quotes(text) + " " + *mistake};
    return group;
}

Parsed<std::string> parse_host(std::string_view text) {
    if (!is_host_name(text))
        return ParseError{
            in_quotes(text) + " is not a host's name; expected one such as stint.internal, without "
                              "a port"};
    std::string host{text};
    std::ranges::transform(host, host.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return host;
}

} // namespace

void read_hosts(const Field& field, const Value& value, std::vector<std::string>& hosts) {
    const auto items = value.items(field.expected);
    if (items && items->size() > field.type.most_items)
        value.wrong("has more than " + std::to_string(field.type.most_items) + " names");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto host = item.as("a name such as stint.internal", parse_host);
        if (!host)
            continue;
        if (std::ranges::find(hosts, *host) != hosts.end())
            item.wrong(in_quotes(*host) + " is listed already; remove one");
        hosts.push_back(*host);
    }
}

void show_mode(const Field& field, const Address& address, Shown::Map& members) {
    if (address.kind != Address::Kind::unix_socket)
        return;
    std::string mode{"0000"};
    for (std::size_t i = 0; i < 3; ++i)
        mode[3 - i] = static_cast<char>('0' + (address.mode >> 3 * i & 7U));
    add(members, field.key, mode);
}

void show_group(const Field& field, const Address& address, Shown::Map& members) {
    if (address.kind == Address::Kind::unix_socket && !address.group.empty())
        add(members, field.key, address.group);
}

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

std::optional<Value> read_address(
    const Section& section, const Field& field, Address& address, const LoadState& loading) {
    const auto value = section.require(field.key, field.expected);
    auto parsed = value ? value->as(field.expected, parse_address) : std::nullopt;
    if (!parsed)
        return std::nullopt;
    check_free(*value, *parsed, loading);
    address = std::move(*parsed);
    return value;
}

void read_token_file(
    const Field& field, const Value& value, std::string& file, const LoadState& loading) {
    const auto path = value.as(field.expected, parse_file_path);
    if (!path)
        return;
    file = (loading.folder / *path).string();
    if (const std::string fault = token_fault(file); !fault.empty())
        value.wrong(in_quotes(file) + fault);
}

} // namespace stint::config
