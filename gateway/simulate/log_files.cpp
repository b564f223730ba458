#include "simulate/log_files.hpp"

#include <algorithm>
#include <utility>

namespace stint::simulate {
namespace {

constexpr std::size_t malformed_shown = 5;

} // namespace

Result<LogFiles, std::string> LogFiles::open(const std::vector<std::string>& names) {
    LogFiles files;
    for (const std::string& name : names) {
        auto reader = LineReader::open(name);
        if (!reader)
            return reader.error();
        files.sources_.push_back({std::move(*reader), std::nullopt});
    }
    for (Source& source : files.sources_)
        files.read_on(source);
    return files;
}

bool LogFiles::later(const Waiting& a, const Waiting& b) noexcept {
    return a.request.time != b.request.time ? a.request.time > b.request.time
                                            : a.sequence > b.sequence;
}

// Reads the source up to its next line with a routed request; counts all other lines.
void LogFiles::read_on(Source& source) {
    source.ahead.reset();
    while (const auto line = source.reader.next()) {
        ++figures_.lines;
        auto request = source.reader.too_long()
                           ? Result<LoggedRequest, std::string>{"longer than 1 MiB"}
                           : parse_line(*line);
        if (!request) {
            if (++figures_.malformed <= malformed_shown)
                figures_.first_malformed.push_back(
                    source.reader.name() + ":" + std::to_string(source.reader.line()) + ": " +
                    request.error());
        } else if (!request->was_routed()) {
            ++figures_.unrouted;
        } else {
            source.ahead = std::move(*request);
            return;
        }
    }
    if (failure_.empty())
        failure_ = source.reader.failure();
}

// Moves the request whose line was written first from its file to the sort buffer. Returns false at
// the end of all files.
bool LogFiles::pull() {
    const auto written = [](const Source& source) {
        return source.ahead ? source.ahead->time + source.ahead->duration : WallTime::max();
    };
    const auto first = std::ranges::min_element(sources_, {}, written);
    if (first == sources_.end() || !first->ahead)
        return false;
    waiting_.push_back({std::move(*first->ahead), sequence_++});
    std::ranges::push_heap(waiting_, later);
    read_on(*first);
    return true;
}

std::optional<LoggedRequest> LogFiles::next() {
    while (waiting_.size() < look_ahead && pull()) {
    }
    if (waiting_.empty())
        return std::nullopt;
    std::ranges::pop_heap(waiting_, later);
    LoggedRequest request = std::move(waiting_.back().request);
    waiting_.pop_back();
    if (request.time < last_) {
        ++figures_.late;
        request.time = last_;
    }
    last_ = request.time;
    return request;
}

} // namespace stint::simulate
