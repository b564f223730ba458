// Metrics of the configuration and of the files it names.
#include "observe/exposition_page.hpp"

namespace stint::observe {
namespace {

void add_certificates(Page& page, const ProcessFigures& figures) {
    page.counter(
            "stint_tls_certificate_reloads_total",
            "Certificates read again because their files had changed.")
        .add({}, figures.certificate_reloads);
    page.counter(
            "stint_tls_certificate_reload_failures_total",
            "Changed certificates that could not be used, so that the former ones stayed.")
        .add({}, figures.certificate_reload_failures);
    auto ends = page.gauge(
        "stint_tls_certificate_expires_timestamp_seconds",
        "When a listener's certificate ends, since the Unix epoch.");
    for (const ProcessFigures::CertificateFigures& each : figures.certificates)
        ends.add({{"file", each.file}}, each.expires_seconds);
}

void add_state(Page& page, const ProcessFigures::StateFigures& state) {
    page.counter("stint_state_writes_total", "Times changed counts were written to the state file.")
        .add({}, state.writes);
    page.counter(
            "stint_state_write_failures_total",
            "Times the state file could not be opened or written.")
        .add({}, state.write_failures);
    page.gauge(
            "stint_state_last_write_timestamp_seconds",
            "When the state file was last written, since the Unix epoch; 0 if never.")
        .add({}, state.last_write_seconds);
    page.gauge(
            "stint_state_round_seconds",
            "How long it took to write all that had changed, last time: so much a kill forgets.")
        .add({}, state.round_seconds);
}

} // namespace

void add_configuration(Page& page, const ProcessFigures& figures) {
    auto lines = page.counter(
        "stint_access_log_lines_total",
        "Lines of the access log, written or dropped because the target did not take them.");
    lines.add({{"result", "written"}}, figures.access_log_written);
    lines.add({{"result", "dropped"}}, figures.access_log_dropped);
    page.gauge("stint_config_generation", "Number of the configuration in force; 1 at the start.")
        .add({}, figures.config_generation);
    auto reloads = page.counter("stint_config_reloads_total", "Attempts to reload, by result.");
    reloads.add({{"result", "ok"}}, figures.config_reloads);
    reloads.add({{"result", "failed"}}, figures.config_reload_failures);
    add_certificates(page, figures);
    if (figures.state)
        add_state(page, *figures.state);
}

} // namespace stint::observe
