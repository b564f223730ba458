#include "simulate/log_notes.hpp"

#include <cstdint>

namespace stint::simulate {
namespace {

std::string requests_of(std::uint64_t count, const char* told) {
    return "the log does not tell " + std::string{told} + " of " + std::to_string(count) +
           " requests: ";
}

} // namespace

std::vector<std::string> notes_of(const LogFiles::Figures& log, bool against_log) {
    const auto of = [&](LogFormat format) {
        return log.by_format[static_cast<std::size_t>(format)];
    };
    const std::uint64_t nginx = of(LogFormat::nginx);
    const std::uint64_t haproxy = of(LogFormat::haproxy);
    std::vector<std::string> notes;
    if (nginx + haproxy == 0)
        return notes;
    notes.push_back(
        std::to_string(nginx) + " requests are from lines in nginx's format, " +
        std::to_string(haproxy) + " in HAProxy's, " + std::to_string(of(LogFormat::stint)) +
        " in Stint's");
    if (log.whole_second > 0)
        notes.push_back(
            requests_of(log.whole_second, "the time below the second") +
            "those of one second are spread evenly over it, in the log's order");
    if (haproxy > 0)
        notes.push_back("HAProxy's times have no time zone: they are taken as UTC");
    if (log.without_duration > 0)
        notes.push_back(
            requests_of(log.without_duration, "the duration") +
            "they hold slots of caps for no time, so caps refuse too few, and their time is that "
            "of their end");
    if (log.without_host > 0)
        notes.push_back(
            requests_of(log.without_host, "the Host") +
            "they match no route of a host, and limits keyed by it are left out for them; "
            "--host NAME gives one");
    if (log.unnamed_captures > 0)
        notes.push_back(
            std::to_string(log.unnamed_captures) +
            " requests have captured headers without names; --captured NAME, once for each in "
            "their order, gives them");
    notes.push_back(
        "other header fields, such as cookies, are not in these logs: limits keyed by them are "
        "left out");
    if (against_log)
        notes.push_back(
            "these logs have no routes and limits: a status of 429 is taken as refused, any other "
            "as admitted");
    return notes;
}

} // namespace stint::simulate
