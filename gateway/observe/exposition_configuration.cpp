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

void add_stores(Page& page, const ProcessFigures& figures) {
    auto up = page.gauge("stint_store_up", "1 while the server of a store answers.");
    auto ready = page.gauge("stint_store_ready", "1 while a store can be asked for shares.");
    auto counters =
        page.gauge("stint_store_counters", "Counters of which this gateway has a share.");
    auto trips =
        page.gauge("stint_store_round_trip_seconds", "How long the latest call of a store took.");
    auto calls = page.counter("stint_store_calls_total", "Calls of a store, by result.");
    auto wants = page.counter(
        "stint_store_wants_total", "Requests that waited for a share, by the store's answer.");
    auto learnt = page.counter(
        "stint_store_pauses_learnt_total",
        "Pauses that began or grew longer here because another gateway was asked for them.");
    for (const ProcessFigures::StoreFigures& each : figures.stores) {
        up.add({{"store", each.name}}, std::uint64_t{each.up});
        ready.add({{"store", each.name}}, std::uint64_t{each.ready});
        counters.add({{"store", each.name}}, each.counters);
        trips.add({{"store", each.name}}, each.round_trip_seconds);
        calls.add({{"store", each.name}, {"result", "ok"}}, each.calls - each.failed_calls);
        calls.add({{"store", each.name}, {"result", "failed"}}, each.failed_calls);
        wants.add({{"store", each.name}, {"result", "told"}}, each.wants_told);
        wants.add({{"store", each.name}, {"result", "failed"}}, each.wants_failed);
        learnt.add({{"store", each.name}}, each.learnt_pauses);
    }
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
    page.gauge(
            "stint_config_last_reload_success",
            "1 if the last reload was applied, or none has been; 0 if it failed.")
        .add({}, std::uint64_t{figures.last_reload_applied});
    page.gauge(
            "stint_config_unwatched_folders",
            "Folders that cannot be watched for changed files, which are found by looking.")
        .add({}, figures.unwatched_folders);
    add_certificates(page, figures);
    if (figures.state)
        add_state(page, *figures.state);
    if (!figures.stores.empty())
        add_stores(page, figures);
}

} // namespace stint::observe
