// The results of reloads.
#pragma once

#include "base/time.hpp"
#include "config/load.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

// A reason why a configuration was not applied.
struct ReloadError {
    std::string text;    // begins with its place, if there is one
    std::string place{}; // "file:line:column"; "": none

    friend bool operator==(const ReloadError&, const ReloadError&) = default;
};

[[nodiscard]] inline std::vector<ReloadError> errors_of(const config::ConfigErrors& mistakes) {
    std::vector<ReloadError> errors;
    for (const config::ConfigError& mistake : mistakes)
        errors.push_back({mistake.text(), mistake.place()});
    return errors;
}

// The result of a reload.
struct ReloadReport {
    bool applied = false;
    std::vector<ReloadError> errors;
    // A line for each limit that was reset and each changed setting that needs a restart.
    std::vector<std::string> notes;
};

enum class ReloadCause : std::uint8_t { start, signal, api, watch };

struct LastReload {
    WallTime at{};
    ReloadCause by = ReloadCause::start; // with `start`, none has been since
    ReloadReport report{.applied = true, .errors = {}, .notes = {}};
};

// Counts the reloads, and remembers the last one. Used by the control thread alone.
class ReloadHistory {
  public:
    // Sets the time of the start, which last() returns until there is a reload.
    void begin(WallTime at) noexcept { last_.at = at; }
    void add(LastReload reload) {
        last_ = std::move(reload);
        ++(last_.report.applied ? applied_ : failed_);
    }

    [[nodiscard]] const LastReload& last() const noexcept { return last_; }
    [[nodiscard]] std::uint64_t applied() const noexcept { return applied_; }
    [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }

  private:
    LastReload last_;
    std::uint64_t applied_ = 0;
    std::uint64_t failed_ = 0;
};

} // namespace stint::runtime
