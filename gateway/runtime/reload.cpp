// Swapping in a new configuration while traffic flows.
#include "config/fields/restart.hpp"
#include "runtime/gateway.hpp"
#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

namespace stint::runtime {

ReloadReport Gateway::reload() {
    ReloadReport report;
    auto loaded = config::load_file(file_);
    if (stopping_) {
        report.errors.push_back("the gateway is stopping");
    } else if (!loaded) {
        for (const config::ConfigError& mistake : loaded.error())
            report.errors.push_back(mistake.text());
    } else if (auto tls = load_tls(*loaded, file_, tls_, ticket_keys_); !tls) {
        for (const config::ConfigError& mistake : tls.error())
            report.errors.push_back(mistake.text());
    } else if (auto opened = open_new_listeners(*loaded); !opened) {
        report.errors.push_back(opened.error());
    } else {
        const auto compiled = [&] {
            return compile(
                *loaded, registry_, slots_, generation_ + 1, overrides_, *tls, &endpoints_);
        };
        Compiled next = compiled();
        report.notes = reload_notes(*loaded, next);
        const std::size_t notes = report.notes.size();
        forget_overrides(next, report.notes);
        if (report.notes.size() > notes)
            next = compiled();
        set_socket_files(*loaded, report.notes);
        report.applied = true;
        resolver_.watch(next.host_names);
        if (loaded->max_connections > config_.max_connections)
            raise_open_files_limit(loaded->max_connections);
        use(std::move(*tls), *loaded);
        apply(std::move(*loaded), std::move(next), std::move(*opened));
        ++generation_;
    }
    ++(report.applied ? reloads_ : reload_failures_);
    if (report.applied)
        spdlog::info("configuration {} is in force", generation_);
    else
        spdlog::error("the configuration was not reloaded, the former one stays in force");
    for (const std::string& error : report.errors)
        spdlog::error("{}", error);
    for (const std::string& note : report.notes)
        spdlog::info("{}", note);
    return report;
}

std::vector<std::string>
Gateway::reload_notes(const config::Config& config, const Compiled& next) const {
    std::vector<std::string> notes;
    for (const ConfiguredLimit& each : next.limits)
        for (const ConfiguredLimit& former : compiled_.limits)
            if (former.limit->identity().name == each.limit->identity().name &&
                former.limit != each.limit)
                notes.push_back(
                    "limit " + each.limit->identity().name +
                    ": its kind, key, anchor or per has changed, so its counts begin anew");
    for (const std::string_view key : config::need_restart(config_, config))
        notes.push_back(std::string{key} + ": takes effect with a restart");
    return notes;
}

} // namespace stint::runtime
