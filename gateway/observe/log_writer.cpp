#include "observe/log_writer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace stint::observe {

namespace {

constexpr auto retry_interval = std::chrono::seconds{1};
// Failures that recur within this time are logged once, so that a failing disk does not flood the
// operational log.
constexpr auto calm_interval = std::chrono::seconds{1};

std::uint64_t count_lines(std::string_view text) noexcept {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string name_of(const AccessLog::Target& target) {
    return target.kind == AccessLog::Target::Kind::file ? target.path : "standard output";
}

void report_once(std::string& reported, const std::string& what) {
    if (what == reported)
        return;
    reported = what;
    spdlog::warn("access log: {}", reported);
}

} // namespace

void LogWriter::set_target(AccessLog::Target target, SteadyTime now) {
    if (target == target_)
        return;
    target_ = std::move(target);
    if (target_.kind == AccessLog::Target::Kind::off)
        close();
    else
        open(now);
}

void LogWriter::reopen(SteadyTime now) {
    if (target_.kind == AccessLog::Target::Kind::file)
        open(now);
}

void LogWriter::close() {
    file_.reset();
    open_again_.reset();
    blocked_since_.reset();
}

void LogWriter::tick(SteadyTime now) {
    if (open_again_ && now >= *open_again_)
        open(now);
}

void LogWriter::open(SteadyTime now) {
    const std::string name = name_of(target_);
    Result<LogFile> opened = LogFile::open(target_);
    if (!opened) {
        open_again_ = now + retry_interval;
        report_once(open_trouble_, "cannot open " + name + ": " + opened.error().message());
        return;
    }
    if (!open_trouble_.empty())
        spdlog::info("access log: {} is open now", name);
    open_trouble_.clear();
    file_ = std::move(*opened);
    file_name_ = name;
    open_again_.reset();
    blocked_since_.reset();
    rewind_to_line_start(); // writes an incomplete line again as a whole to the new target
}

bool LogWriter::flush(SteadyTime now) {
    while (offset_ < lines_.size() && file_) {
        const int error = write_step();
        if (error == 0) {
            blocked_since_.reset();
            continue;
        }
        if (error == EAGAIN) {
            blocked(now);
            return false;
        }
        trouble(
            now, "cannot write to " + file_name_ + ": " + std::generic_category().message(error));
        drop_rest();
        return true;
    }
    if (offset_ < lines_.size()) {
        drop_rest();
        return true;
    }
    if (offset_ > 0)
        recovered(now);
    lines_.clear();
    offset_ = 0;
    return true;
}

int LogWriter::write_step() {
    const bool at_line_start = offset_ == 0 || lines_[offset_ - 1] == '\n';
    // Ends an incomplete line whose rest was dropped, so that the next lines can be read.
    if (at_line_start && file_->mid_line())
        if (const int error = file_->write_some("\n").error; error != 0)
            return error;
    const std::string_view rest = std::string_view{lines_}.substr(offset_);
    const LogFile::Written written = file_->write_some(rest);
    offset_ += written.bytes;
    counts_.written.fetch_add(
        count_lines(rest.substr(0, written.bytes)), std::memory_order_relaxed);
    return written.error;
}

void LogWriter::drop_rest() {
    const std::string_view rest = std::string_view{lines_}.substr(offset_);
    counts_.dropped.fetch_add(count_lines(rest), std::memory_order_relaxed);
    lines_.clear();
    offset_ = 0;
}

void LogWriter::rewind_to_line_start() {
    const std::size_t end = offset_ == 0 ? std::string::npos : lines_.rfind('\n', offset_ - 1);
    offset_ = end == std::string::npos ? 0 : end + 1;
}

void LogWriter::blocked(SteadyTime now) {
    if (!blocked_since_)
        blocked_since_ = now;
    else if (now - *blocked_since_ >= calm_interval)
        trouble(
            now, "the reader of " + file_name_ +
                     " does not keep up; lines that find no room are dropped");
}

void LogWriter::trouble(SteadyTime now, const std::string& what) {
    last_trouble_ = now;
    report_once(trouble_, what);
}

void LogWriter::recovered(SteadyTime now) {
    if (trouble_.empty() || now - last_trouble_ < calm_interval)
        return;
    trouble_.clear();
    spdlog::info(
        "access log: {} is written to again; {} lines dropped since the start", file_name_,
        counts_.dropped.load(std::memory_order_relaxed));
}

} // namespace stint::observe
