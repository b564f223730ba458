// Decides when files that have changed are read again. Reads no clock and no file.
#pragma once

#include "base/time.hpp"
#include "runtime/watch/file_contents.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace stint::runtime {

// Compares the present contents of files with those that the last reload has read, whether or not
// it could apply them: a configuration with a mistake is not tried again until something changes.
// Used by one thread.
class ReloadDecision {
  public:
    // From a change of a folder to the look at the files: several changes are one look.
    static constexpr Duration debounce = std::chrono::milliseconds{200};
    // Contents are read again once they have stayed the same for so long. It is longer for the
    // files of TLS, since a certificate and its key are written one after the other, and much
    // longer for a file that is not there: whoever replaces a file may remove it first.
    static constexpr Duration rest = std::chrono::milliseconds{200};
    static constexpr Duration rest_of_tls = std::chrono::seconds{1};
    static constexpr Duration rest_of_missing = std::chrono::seconds{5};
    // The files are looked at so often without any event: some filesystems send none, and events
    // may be lost.
    static constexpr Duration poll = std::chrono::seconds{10};

    enum class Verdict : std::uint8_t {
        nothing,
        certificates, // only the files of TLS have changed, and all else is in force
        everything
    };

    // Sets the contents that the last reload has read. applied: they are in force. Expects an event
    // at once: files may have changed before somebody watched them.
    void tried(FileContents contents, bool applied, SteadyTime now);
    // Something has changed in a folder of the files.
    void on_event(SteadyTime now) noexcept;
    // Judges the present contents of the files() in their order. After any verdict but `nothing`
    // they count as read.
    [[nodiscard]] Verdict look(const FileContents& present, SteadyTime now);

    // Returns when the next look() is due.
    [[nodiscard]] SteadyTime next_look() const noexcept { return next_; }
    // Returns the files that are compared, with the contents that were read last.
    [[nodiscard]] const FileContents& files() const noexcept { return tried_; }

  private:
    FileContents tried_;
    std::optional<FileContents> changed_; // contents that may still be changing
    SteadyTime changed_at_{};             // when they were seen first
    SteadyTime next_{};
    bool applied_ = true;
};

} // namespace stint::runtime
