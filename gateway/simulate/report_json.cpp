#include "observe/json_line.hpp"
#include "simulate/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>

namespace stint::simulate {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(WallTime time) {
    std::string text;
    observe::append_rfc3339(text, time);
    return text;
}

Json log_json(const Report& report) {
    Json json{
        {"lines", report.log.lines},
        {"requests", report.requests},
        {"malformed", report.log.malformed},
        {"first_malformed", report.log.first_malformed},
        {"rejected_before_routing", report.log.unrouted},
        {"late", report.log.late},
        {"notes", report.notes}};
    if (report.requests > 0) {
        json["from"] = time_text(report.from);
        json["to"] = time_text(report.to);
    }
    return json;
}

Json keys_json(const limits::SpaceSaving& keys) {
    Json list = Json::array();
    for (std::size_t rank = 0; rank < std::min(keys.size(), keys_shown); ++rank) {
        const auto entry = keys.ranked(rank);
        Json key{{"key", entry.text}, {"refused", entry.count}, {"at_most_over_by", entry.over}};
        if (entry.cut)
            key["cut"] = true;
        list.push_back(std::move(key));
    }
    return list;
}

Json side_json(const Tally& tally) {
    Json routes = Json::array();
    for (const auto& [name, route] : tally.routes())
        routes.push_back(
            {{"route", name},
             {"admitted", route.admitted},
             {"refused", route.refusals()},
             {"refused_by", Json(route.refused)}});
    Json keys = Json::object();
    for (const auto& [limit, sketch] : tally.keys())
        keys[limit] = keys_json(sketch);
    return {
        {"admitted", tally.admitted()},
        {"refused", tally.refused()},
        {"no_route", tally.unrouted()},
        {"routes", routes},
        {"waited", tally.waited()},
        {"longest_wait_ms", ceil_ms(tally.longest_wait())},
        {"field_not_in_log", tally.undecided()},
        {"most_refused_keys", keys}};
}

Json difference_json(const Difference& difference) {
    Json places = Json::array();
    for (const auto& [place, count] : difference.places)
        places.push_back(
            {{"route", place.first},
             {"limit", place.second},
             {"newly_refused", count.newly_refused},
             {"newly_admitted", count.newly_admitted}});
    return {
        {"newly_refused", difference.total.newly_refused},
        {"newly_admitted", difference.total.newly_admitted},
        {"other_route", difference.other_route},
        {"by_limit", places}};
}

} // namespace

void write_json(std::ostream& out, const Report& report) {
    Json after{{"file", report.file}};
    after.update(side_json(report.after));
    Json before{{"file", report.against ? Json(*report.against) : Json(nullptr)}};
    before.update(side_json(report.before));
    const Json json{
        {"log", log_json(report)},
        {"configuration", after},
        {"against", before},
        {"difference", difference_json(report.difference)},
        {"unknown_ends", report.unknown_ends}};
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace stint::simulate
