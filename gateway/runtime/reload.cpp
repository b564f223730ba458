// Swapping in a new configuration while traffic flows.
#include "runtime/gateway.hpp"
#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

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
    if (config.workers != config_.workers)
        notes.push_back("workers: takes effect with a restart");
    if (config.pin_workers != config_.pin_workers)
        notes.push_back("pin_workers: takes effect with a restart");
    const auto admin_text = [](const config::Config& from) {
        std::string hosts;
        for (const std::string& host : from.admin ? from.admin->hosts : std::vector<std::string>{})
            hosts.append(host).append(" ");
        return from.admin ? hosts + from.admin->address.text + " " +
                                std::to_string(from.admin->address.mode) + " " +
                                from.admin->address.group + " " + from.admin->token_file +
                                (from.admin->read_only ? " read_only" : "") +
                                (from.admin->tls ? " tls" : "")
                          : std::string{};
    };
    if (admin_text(config) != admin_text(config_))
        notes.push_back("admin: takes effect with a restart");
    const auto state_text = [](const config::Config& from) {
        return from.state ? from.state->file + (from.state->closed_on_start ? " closed" : " open")
                          : std::string{};
    };
    if (state_text(config) != state_text(config_))
        notes.push_back("state: takes effect with a restart");
    return notes;
}

} // namespace stint::runtime
