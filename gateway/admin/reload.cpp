#include "admin/reload.hpp"

#include "admin/access.hpp"
#include "admin/change_body.hpp"
#include "admin/dry_run.hpp"
#include "admin/forecast_reload.hpp"
#include "http/query.hpp"
#include "observe/json_line.hpp"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

#include <array>
#include <utility>
#include <vector>

namespace stint::admin {
namespace {

std::string_view name_of(runtime::ReloadCause cause) {
    switch (cause) {
    case runtime::ReloadCause::start:
        return "start";
    case runtime::ReloadCause::signal:
        return "signal";
    case runtime::ReloadCause::api:
        return "api";
    case runtime::ReloadCause::watch:
        break;
    }
    return "watch";
}

std::string sha256_of(std::string_view text) {
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
    ::crypto_hash_sha256(
        hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
    std::string digits(2 * hash.size() + 1, '\0'); // with a final zero
    ::sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
    digits.pop_back();
    return digits;
}

// Without with_texts an error that has a place is only that: the path of a key may be a secret,
// too, such as the name of a field.
Json errors_json(const std::vector<runtime::ReloadError>& errors, bool with_texts) {
    Json json = Json::array();
    for (const runtime::ReloadError& error : errors)
        json.push_back(with_texts || error.place.empty() ? error.text : error.place);
    return json;
}

} // namespace

Response reload_response(const runtime::ReloadReport& report, std::uint64_t generation) {
    if (report.applied)
        return json_response(
            Json{{"applied", true}, {"generation", generation}, {"notes", report.notes}});
    return problem(
        422, "The configuration was not reloaded; the former one stays in force.",
        Json{
            {"applied", false},
            {"generation", generation},
            {"errors", errors_json(report.errors, true)}});
}

net::Task<Response> reload(runtime::Gateway& gateway, RunningConfig running, std::string query) {
    constexpr std::array<std::string_view, 1> known{"dry_run"};
    if (auto fault = fault_in_query(query, known, known.front()))
        co_return std::move(*fault);
    const std::string_view dry = http::parameter(query, known.front()).value_or("false");
    if (dry != "true" && dry != "false")
        co_return problem(400, "\"dry_run\" must be true or false.");
    if (auto refusal = refuse_late_change(gateway))
        co_return std::move(*refusal);
    if (dry == "true") {
        const runtime::DryRun run = gateway.dry_run();
        Json json = dry_run_json(
            run, with_running(gateway.config(), running), gateway.store().file(),
            gateway.compiled().snapshot->generation);
        if (run.errors.empty()) {
            Json told = co_await forecast_of_reload(gateway, run.next);
            json["forecast"] = std::move(told);
        }
        co_return json_response(json);
    }
    const runtime::ReloadReport report = gateway.reload(runtime::ReloadCause::api);
    co_return reload_response(report, gateway.compiled().snapshot->generation);
}

Json last_reload_json(
    const runtime::LastReload& last,
    std::uint64_t generation,
    std::string_view config,
    bool with_texts) {
    std::string at;
    observe::append_rfc3339(at, last.at);
    Json json{{"at", at}, {"by", name_of(last.by)}, {"applied", last.report.applied}};
    if (last.report.applied) {
        json["notes"] = last.report.notes;
    } else {
        json["errors"] = errors_json(last.report.errors, with_texts);
    }
    json["generation"] = generation;
    json["config_sha256"] = sha256_of(config);
    return json;
}

} // namespace stint::admin
