#include "simulate/simulate.hpp"

#include "config/load.hpp"
#include "simulate/log_files.hpp"
#include "simulate/log_notes.hpp"
#include "simulate/replay.hpp"
#include "simulate/report.hpp"

#include <memory>
#include <optional>
#include <ostream>
#include <utility>

namespace stint::simulate {
namespace {

std::optional<config::Config>
load(const std::string& file, const config::Environment& environment, std::ostream& errors) {
    auto loaded = config::load_file(file, environment);
    if (loaded)
        return std::move(*loaded);
    for (const config::ConfigError& mistake : loaded.error())
        errors << mistake.text() << '\n';
    return std::nullopt;
}

// Collects the two verdicts on one request (after: new configuration; before: log or other
// configuration), and compares them once both are set.
class Verdicts {
  public:
    // unknown_end: the log refused the request, so its duration and status are unknown if it is
    // admitted.
    Verdicts(Report& report, bool unknown_end) noexcept
        : report_{report}, unknown_end_{unknown_end} {}

    void set_after(const Verdict& verdict) {
        report_.after.add(verdict);
        if (verdict.end_matters && unknown_end_)
            ++report_.unknown_ends;
        after_ = verdict;
        compare();
    }
    void set_before(const Verdict& verdict) {
        report_.before.add(verdict);
        before_ = verdict;
        compare();
    }

  private:
    void compare() {
        if (before_ && after_)
            report_.difference.add(*before_, *after_);
    }

    Report& report_;
    const bool unknown_end_;
    std::optional<Verdict> before_;
    std::optional<Verdict> after_;
};

void replay_all(LogFiles& logs, Replay& after, std::optional<Replay>& before, Report& report) {
    while (const auto request = logs.next()) {
        if (report.requests++ == 0)
            report.from = request->time;
        report.to = request->time;
        const bool unknown_end =
            request->was_refused() || (request->tells_decision() && request->route.empty());
        const auto both = std::make_shared<Verdicts>(report, unknown_end);
        after.judge(*request, [both](const Verdict& verdict) { both->set_after(verdict); });
        if (before)
            before->judge(*request, [both](const Verdict& verdict) { both->set_before(verdict); });
        else
            both->set_before(verdict_of_log(*request));
    }
    after.finish();
    if (before)
        before->finish();
}

} // namespace

Ending run(const Options& options, std::ostream& out, std::ostream& errors) {
    const auto config = load(options.config, options.environment, errors);
    std::optional<config::Config> other;
    if (options.against)
        other = load(*options.against, options.environment, errors);
    if (!config || (options.against && !other))
        return Ending::bad_configuration;
    auto logs = LogFiles::open(options.logs, options.log);
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
    report.notes = notes_of(report.log, !options.against);
    const bool nothing = report.log.lines > 0 && report.log.malformed == report.log.lines;
    if (nothing || !logs->failure().empty()) {
        errors << "stint: "
               << (nothing ? "no line is of an access log that can be read: " +
                                 report.log.first_malformed[0]
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
