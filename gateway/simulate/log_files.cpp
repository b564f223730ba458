#include "simulate/log_files.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::simulate {
namespace {

constexpr std::size_t malformed_shown = 5;

// Returns the time at which the line was written.
WallTime end_of_line(const LoggedRequest& request) noexcept {
    return request.time + request.duration;
}

} // namespace

Result<LogFiles, std::string>
LogFiles::open(const std::vector<std::string>& names, const LogOptions& options) {
    LogFiles files{options};
    for (const std::string& name : names) {
        auto reader = LineReader::open(name);
        if (!reader)
            return reader.error();
        files.sources_.push_back({.reader = std::move(*reader)});
    }
    for (Source& source : files.sources_)
        files.read_on(source);
    return files;
}

bool LogFiles::later(const Waiting& a, const Waiting& b) noexcept {
    return a.request.time != b.request.time ? a.request.time > b.request.time
                                            : a.sequence > b.sequence;
}

// Returns the source's next request that was routed, and counts all lines up to it; nullopt at the
// end of the source.
std::optional<LoggedRequest> LogFiles::read_request(Source& source) {
    while (const auto line = source.reader.next()) {
        ++figures_.lines;
        auto request = source.reader.too_long()
                           ? Result<LoggedRequest, std::string>{"longer than 1 MiB"}
                           : parser_->parse(*line, source.format);
        if (!request) {
            if (++figures_.malformed <= malformed_shown)
                figures_.first_malformed.push_back(
                    source.reader.name() + ":" + std::to_string(source.reader.line()) + ": " +
                    request.error());
        } else if (!request->was_routed()) {
            ++figures_.unrouted;
        } else {
            note(*request);
            return std::move(*request);
        }
    }
    if (failure_.empty())
        failure_ = source.reader.failure();
    return std::nullopt;
}

void LogFiles::note(const LoggedRequest& request) {
    ++figures_.by_format[static_cast<std::size_t>(request.format)];
    figures_.without_host += request.tells_host() ? 0 : 1;
    figures_.without_duration += request.tells_duration ? 0 : 1;
    figures_.whole_second += request.whole_second ? 1 : 0;
    figures_.unnamed_captures += request.has_captures ? 1 : 0;
}

// Reads the source's next request. If the log tells times only to the second, reads all consecutive
// requests that ended in the same second, and spreads them evenly over it.
void LogFiles::read_on(Source& source) {
    auto request = std::exchange(source.beyond, std::nullopt);
    if (!request)
        request = read_request(source);
    if (!request)
        return;
    const bool coarse = request->whole_second;
    const WallTime second = end_of_line(*request);
    source.ahead.push_back(std::move(*request));
    while (coarse && source.ahead.size() < look_ahead) {
        source.beyond = read_request(source);
        if (!source.beyond || !source.beyond->whole_second || end_of_line(*source.beyond) != second)
            break;
        source.ahead.push_back(std::move(*source.beyond));
        source.beyond.reset();
    }
    if (!coarse)
        return;
    const auto step = std::chrono::nanoseconds{std::chrono::seconds{1}} /
                      static_cast<std::int64_t>(source.ahead.size());
    Duration since_second{};
    for (LoggedRequest& each : source.ahead) {
        each.time += since_second;
        since_second += step;
    }
}

// Moves the request whose line was written first from its file to the sort buffer. Returns false at
// the end of all files.
bool LogFiles::pull() {
    const auto written = [](const Source& source) {
        return source.ahead.empty() ? WallTime::max() : end_of_line(source.ahead.front());
    };
    const auto first = std::ranges::min_element(sources_, {}, written);
    if (first == sources_.end() || first->ahead.empty())
        return false;
    waiting_.push_back({std::move(first->ahead.front()), sequence_++});
    std::ranges::push_heap(waiting_, later);
    first->ahead.pop_front();
    if (first->ahead.empty())
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
