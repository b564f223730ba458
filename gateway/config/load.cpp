#include "config/load.hpp"

#include "config/sections/section_readers.hpp"
#include "config/values/text_check.hpp"
#include "config/values/values.hpp"
#include "config/yaml/yaml_tree.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace stint::config {

namespace {

constexpr std::size_t largest_file = 1U << 20U;
constexpr std::uint64_t most_workers = 1024;
constexpr std::uint64_t most_connections = 1'000'000;

constexpr std::array<std::string_view, 30> top_keys{
    "workers",
    "pin_workers",
    "listeners",
    "admin",
    "timeouts",
    "max_connections",
    "max_connections_per_client",
    "max_head",
    "max_target",
    "max_fields",
    "max_body",
    "min_rate",
    "merge_slashes",
    "encoded_slashes",
    "absolute_form",
    "forwarded",
    "access_log",
    "log",
    "headers",
    "upstreams",
    "limits",
    "routes",
    "ipv4_prefix",
    "ipv6_prefix",
    "trusted_proxies",
    "client_ip_header",
    "trusted_fields",
    "state",
    "permits",
    "locks"};
constexpr std::array<std::string_view, 1> log_keys{"level"};
constexpr std::array<std::string_view, 5> log_levels{"trace", "debug", "info", "warn", "error"};

ConfigErrors one_mistake(const std::filesystem::path& file, std::string message) {
    return {{file.string(), 1, 1, std::move(message)}};
}

Parsed<std::size_t> parse_workers(std::string_view text) {
    if (text == "auto")
        return std::size_t{0};
    const auto count = parse_count(text, 1, most_workers);
    if (!count)
        return ParseError{count.error().why + ", or auto"};
    return std::size_t{*count};
}

Parsed<std::size_t> parse_connections_per_client(std::string_view text) {
    return parse_or_off(text, std::size_t{0}, [](std::string_view count) {
        return parse_count(count, 1, most_connections);
    });
}

void read_log(const Value& value, Config& config) {
    const auto section = Section::open(value, log_keys, "a map such as {level: info}");
    if (!section)
        return;
    if (const auto level = section->find("level"))
        level->into(config.log_level, "a level such as info", [](std::string_view text) {
            return parse_word(text, log_levels);
        });
}

void read_numbers(const Section& top, Config& config) {
    if (const auto workers = top.find("workers"))
        workers->into(config.workers, "auto or a number of threads", parse_workers);
    if (const auto pinned = top.find("pin_workers"))
        pinned->into(config.pin_workers, "true or false", parse_bool);
    if (const auto connections = top.find("max_connections"))
        connections->into(
            config.max_connections, "a number of connections",
            [](std::string_view text) { return parse_count(text, 1, most_connections); });
    if (const auto connections = top.find("max_connections_per_client"))
        connections->into(
            config.max_connections_per_client, "off or a number of connections",
            parse_connections_per_client);
    read_prefixes(top, config.prefixes);
}

// Finds a key that is required unless the gateway gives permits.
std::optional<Value>
find_unless_permits(const Section& top, std::string_view key, std::string_view expected) {
    return top.find("permits") ? top.find(key) : top.require(key, expected);
}

void read_top(const Section& top, LoadState& loading) {
    read_numbers(top, loading.config);
    read_requests(top, loading.config);
    read_trusted_proxies(top, loading.config.trusted_proxies);
    if (const auto listeners =
            find_unless_permits(top, "listeners", "a list of addresses to listen on"))
        read_listeners(*listeners, loading);
    if (const auto admin = top.find("admin"))
        read_admin(*admin, loading);
    if (const auto permits = top.find("permits"))
        read_permits(*permits, loading);
    if (const auto state = top.find("state"))
        read_state(*state, loading);
    if (const auto timeouts = top.find("timeouts"))
        read_timeouts(*timeouts, loading.config.timeouts);
    if (const auto min_rate = top.find("min_rate"))
        read_min_rate(*min_rate, loading.config.min_rate);
    if (const auto access_log = top.find("access_log"))
        read_access_log(*access_log, loading);
    if (const auto log = top.find("log"))
        read_log(*log, loading.config);
    if (const auto headers = top.find("headers"))
        read_headers(*headers, loading.config.headers);
    if (const auto upstreams = top.find("upstreams"))
        read_upstreams(*upstreams, loading);
    if (const auto limits = top.find("limits"))
        read_named_limits(*limits, loading);
    if (const auto locks = top.find("locks"))
        read_locks(top, *locks, loading);
    if (const auto routes = find_unless_permits(top, "routes", "a list of routes, [] for none"))
        read_routes(*routes, loading);
}

} // namespace

Result<Config, ConfigErrors> load_file(const std::filesystem::path& file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in{
        std::fopen(file.c_str(), "rb"), &std::fclose};
    std::string text;
    if (in) {
        text.resize(largest_file + 1);
        errno = 0;
        text.resize(std::fread(text.data(), 1, text.size(), in.get()));
    }
    if (!in || std::ferror(in.get()) != 0)
        return one_mistake(file, "cannot be read: " + std::generic_category().message(errno));
    return load_text(text, file);
}

Result<Config, ConfigErrors> load_text(std::string_view yaml, const std::filesystem::path& file) {
    if (yaml.size() > largest_file)
        return one_mistake(file, "the file is larger than 1 MiB");
    Diagnostics report{file.string()};
    const std::string text = checked_text(yaml, report);
    LoadState loading;
    loading.file = file;
    loading.folder = file.parent_path();
    if (const auto root = parse_yaml(text, report)) {
        const auto top =
            Section::open({*root, "", report}, top_keys, "a map with listeners and routes");
        if (top)
            read_top(*top, loading);
    }
    if (!report.empty())
        return std::move(report).take();
    return std::move(loading.config);
}

} // namespace stint::config
