// Directives about clients' connections and logs.
#include "config/values/bounds.hpp"
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace stint::import_nginx {

namespace {

void read_max_body(Block& block, const Directive& directive) {
    const auto size = size_of(directive.args.front());
    if (!size || *size > config::largest_body)
        return lose_argument(block, directive, "a size such as 10m, of at most 1024g");
    block.settings->max_body = *size;
}

void read_global_time(Block& block, const Directive& directive, Milliseconds& time) {
    const auto read = time_of(directive.args.front());
    if (!read)
        return lose_argument(block, directive, "a time such as 60s, of at most 366 days");
    if (!in_http(block) && *read != time)
        return block.report.lose(directive, "is that of all listeners in Stint; left out");
    if (read->count() == 0)
        return block.report.lose(directive, "Stint keeps clients' connections; left out");
    time = *read;
}

void read_head_buffers(Block& block, const Directive& directive) {
    constexpr std::uint64_t least = config::smallest_head, most = config::largest_head;
    const auto number = number_of(directive.args[0]);
    const auto size = size_of(directive.args[1]);
    if (!number || !size || *number == 0 || *size == 0)
        return lose_argument(block, directive, "a number and a size such as 4 8k");
    if (!in_http(block))
        return block.report.lose(directive, "is that of all listeners in Stint; left out");
    const std::uint64_t target = std::clamp(*size, least, most);
    const std::uint64_t whole = *number > most / target ? most + 1 : *number * target;
    if (whole > most)
        block.report.lose(directive, "a head has at most 64KiB in Stint");
    block.model.max_head = std::min(whole, most);
    block.model.max_target = target;
}

void read_access_log(Block& block, const Directive& directive) {
    const std::string& path = directive.args.front();
    std::string& log = block.model.access_log;
    if (path != "off" && directive.args.size() > 1)
        block.report.note(
            directive, "Stint has a format of its own: a line of JSON for each request");
    if (in_http(block) && log.empty() && !path.starts_with("syslog:")) {
        log = path == "off" ? path : read_path(block, directive);
        return;
    }
    if (path != log)
        block.report.lose(directive, "Stint has one access log for everything; see access_log");
}

void read_error_log(Block& block, const Directive& directive) {
    if (block.where == context::server || block.where == context::location)
        return block.report.lose(directive, "Stint has one operational log, on standard error");
    const std::string level = directive.args.size() > 1 ? directive.args[1] : "error";
    block.model.log_level = level == "debug"                       ? "debug"
                            : level == "info" || level == "notice" ? "info"
                            : level == "warn"                      ? "warn"
                                                                   : "error";
    block.report.note(directive, "Stint writes its operational log to standard error");
}

void read_merge_slashes(Block& block, const Directive& directive) {
    const bool merges = read_switch(block, directive);
    if (!in_http(block) && merges != block.model.merge_slashes)
        return block.report.lose(directive, "is that of all routes in Stint; left out");
    block.model.merge_slashes = merges;
}

constexpr std::array table_of_clients{
    Row{"client_max_body_size", context::shared, 1, 1, read_max_body},
    Row{"client_header_timeout", context::http | context::server, 1, 1,
        [](Block& block, const Directive& directive) {
            read_global_time(block, directive, block.model.head);
        }},
    Row{"keepalive_timeout", context::shared | context::upstream, 1, 2,
        [](Block& block, const Directive& directive) {
            if (block.where == context::upstream)
                return block.report.note(
                    directive, "an unused connection is kept for timeouts.idle");
            read_global_time(block, directive, block.model.idle);
        }},
    Row{"large_client_header_buffers", context::http | context::server, 2, 2, read_head_buffers},
    Row{"access_log", context::shared, 1, many, read_access_log},
    Row{"error_log", context::main | context::shared, 1, 2, read_error_log},
    Row{"merge_slashes", context::http | context::server, 1, 1, read_merge_slashes},
};

} // namespace

std::span<const Row> client_rows() {
    return table_of_clients;
}

} // namespace stint::import_nginx
