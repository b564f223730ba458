// Helpers for sending a GET response of the admin listener repeatedly as server-sent events (HTML
// standard, section 9.2).
#pragma once

#include "base/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::admin {

// Maximum number of concurrent event streams. Further requests for events are refused, so that
// streams cannot monopolise the control thread.
inline constexpr std::size_t max_event_streams = 16;

// Returns true if a GET requests events: its Accept field names text/event-stream.
[[nodiscard]] bool asks_for_events(const RequestHead& head) noexcept;

// Returns one event with the lines of `document` as data. name: the event's type; empty means the
// default type "message".
[[nodiscard]] std::string event_of(std::string_view document, std::string_view name = {});

// Counts one open event stream during the lifetime of this object.
class EventStreamPlace {
  public:
    // open: the number of open streams; must outlive this object.
    explicit EventStreamPlace(std::size_t& open) noexcept : open_{open} { ++open_; }
    EventStreamPlace(const EventStreamPlace&) = delete;
    EventStreamPlace& operator=(const EventStreamPlace&) = delete;
    ~EventStreamPlace() { --open_; }

  private:
    std::size_t& open_;
};

} // namespace stint::admin
