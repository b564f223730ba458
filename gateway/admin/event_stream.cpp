#include "admin/event_stream.hpp"

#include <boost/algorithm/string/predicate.hpp>

namespace stint::admin {
namespace {

constexpr std::string_view media_type = "text/event-stream";

// True if a media range of the Accept field is that of events, whatever its parameters.
bool names_events(std::string_view accept) noexcept {
    while (!accept.empty()) {
        const std::size_t comma = accept.find(',');
        std::string_view range = accept.substr(0, comma);
        range = range.substr(0, range.find(';'));
        const std::size_t begin = range.find_first_not_of(" \t");
        const std::size_t end = range.find_last_not_of(" \t");
        if (begin != std::string_view::npos &&
            boost::algorithm::iequals(range.substr(begin, end - begin + 1), media_type))
            return true;
        accept = comma == std::string_view::npos ? std::string_view{} : accept.substr(comma + 1);
    }
    return false;
}

} // namespace

bool asks_for_events(const RequestHead& head) noexcept {
    if (head.method != "GET")
        return false;
    for (const Field& field : head.fields)
        if (boost::algorithm::iequals(field.name, "accept") && names_events(field.value))
            return true;
    return false;
}

std::string event_of(std::string_view document, std::string_view name) {
    std::string event;
    event.reserve(document.size() + 64);
    if (!name.empty())
        event.append("event: ").append(name).append("\n");
    while (!document.empty()) {
        const std::size_t end = document.find('\n');
        event.append("data: ").append(document.substr(0, end)).append("\n");
        document = end == std::string_view::npos ? std::string_view{} : document.substr(end + 1);
    }
    return event.append("\n");
}

} // namespace stint::admin
