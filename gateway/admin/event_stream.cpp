#include "admin/event_stream.hpp"

#include "http/media_type.hpp"

namespace stint::admin {

bool asks_for_events(const RequestHead& head) noexcept {
    return head.method == "GET" && http::names_media_type(head.fields, "text", "event-stream");
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
