// A view of the admin listener, sent again and again as server-sent events (HTML standard, section
// 9.2), for a client that watches it.
#pragma once

#include "base/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::admin {

// Streams at a time; another one is refused, so that watching cannot take the control thread.
inline constexpr std::size_t max_event_streams = 16;

// True if a GET asks for events: its Accept names text/event-stream.
[[nodiscard]] bool asks_for_events(const RequestHead& head) noexcept;

// Returns one event whose data is `document`, line by line. name: the event's type; empty: message.
[[nodiscard]] std::string event_of(std::string_view document, std::string_view name = {});

// Counts one stream for as long as it lives.
class EventStreamPlace {
  public:
    // open: the streams now; outlives this.
    explicit EventStreamPlace(std::size_t& open) noexcept : open_{open} { ++open_; }
    EventStreamPlace(const EventStreamPlace&) = delete;
    EventStreamPlace& operator=(const EventStreamPlace&) = delete;
    ~EventStreamPlace() { --open_; }

  private:
    std::size_t& open_;
};

} // namespace stint::admin
