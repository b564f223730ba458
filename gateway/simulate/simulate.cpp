#include "simulate/simulate.hpp"

#include "config/load.hpp"
#include "simulate/log_files.hpp"
#include "simulate/replay.hpp"
#include "simulate/report.hpp"

#include <ostream>
#include <utility>

namespace stint::simulate {
namespace {

std::optional<config::Config> load(const std::string& file, std::ostream& errors) {
    auto loaded = config::load_file(file);
    if (loaded)
        return std::move(*loaded);
    for (const config::ConfigError& mistake : loaded.error())
        errors << mistake.text() << '\n';
    return std::nullopt;
}

void replay_all(LogFiles& logs, Replay& after, std::optional<Replay>& before, Report& report) {
    while (const auto request = logs.next()) {
        if (report.requests++ == 0)
            report.from = request->time;
        report.to = request->time;
        const Verdict new_verdict = after.judge(*request);
        const Verdict old_verdict = before ? before->judge(*request) : verdict_of_log(*request);
        report.after.add(new_verdict);
        report.before.add(old_verdict);
        report.difference.add(old_verdict, new_verdict);
        if (new_verdict.end_matters && (request->was_refused() || request->route.empty()))
            ++report.unknown_ends;
    }
}

} // namespace

Ending run(const Options& options, std::ostream& out, std::ostream& errors) {
    const auto config = load(options.config, errors);
    std::optional<config::Config> other;
    if (options.against)
        other = load(*options.against, errors);
    if (!config || (options.against && !other))
        return Ending::bad_configuration;
    auto logs = LogFiles::open(options.logs);
    if (!logs) {
        errors << "stint: " << logs.error() << '\n';
        return Ending::unreadable_log;
    }
    Replay after{*config, options.logged};
    std::optional<Replay> before;
    if (other)
        before.emplace(*other, options.logged);
    Report report;
    report.file = options.config;
    report.against = options.against;
    replay_all(*logs, after, before, report);
    report.log = logs->summary();
    const bool nothing = report.log.lines > 0 && report.log.malformed == report.log.lines;
    if (nothing || !logs->failure().empty()) {
        errors << "stint: "
               << (nothing ? "no line is of Stint's access log: " + report.log.first_malformed[0]
                           : logs->failure())
               << '\n';
        return Ending::unreadable_log;
    }
    if (options.json)
        write_json(out, report);
    else
        write_text(out, report);
    return Ending::replayed;
}

} // namespace stint::simulate
