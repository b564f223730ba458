// Decides when files that have changed are read again. Reads no clock and no file.
#pragma once

#include "base/time.hpp"
#include "runtime/watch/file_contents.hpp"
#include "runtime/watch/file_events.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// Compares the present contents of files with those that the last reload has read, whether or not
// it could apply them: a configuration with a mistake is not tried again until something changes.
// Used by one thread.
class ReloadDecision {
  public:
    // From an event to the look at the files: several events are one look.
    static constexpr Duration debounce = std::chrono::milliseconds{200};
    // A content is read once it has stayed the same for so long after its writer was done with it.
    // It is longer for the files of TLS, since a certificate and its key are written one after the
    // other.
    static constexpr Duration rest = std::chrono::milliseconds{200};
    static constexpr Duration rest_of_tls = std::chrono::seconds{1};
    // The same where no event says that the writer is done: it may have been another machine, or
    // the event may be lost. Also for a file that is empty or not there: whoever replaces a file
    // may remove it first.
    static constexpr Duration rest_in_doubt = std::chrono::seconds{5};
    // The same while a writer has the file open.
    static constexpr Duration rest_of_open = std::chrono::seconds{30};
    // A content that could be read, but for other files that are not at rest, waits for them, or
    // for its own rest, at most for so long.
    static constexpr Duration longest_wait = std::chrono::seconds{10};
    // The files are looked at so often without any event: some filesystems send none, and events
    // may be lost.
    static constexpr Duration poll = std::chrono::seconds{10};

    enum class Verdict : std::uint8_t {
        nothing,
        certificates, // only files of TLS have changed, and all else is in force
        everything
    };
    // A file that the last verdict is about.
    struct Changed {
        std::string path;
        bool by_event; // an event has said that its writer was done

        friend bool operator==(const Changed&, const Changed&) = default;
    };

    // Sets the contents that the last reload has read, the configuration file first. applied: they
    // are in force. Expects an event at once: files may have changed before somebody watched them.
    void note_reload(FileContents contents, bool applied, SteadyTime now);
    // Something has happened to the file; a path of no file has no effect.
    void on_event(std::string_view path, FileEvent event, SteadyTime now) noexcept;
    // Judges the present contents of the files() in their order. After any verdict but `nothing`
    // those of the changed() files count as read.
    [[nodiscard]] Verdict look(const FileContents& present, SteadyTime now);

    // Returns when the next look() is due.
    [[nodiscard]] SteadyTime next_look() const noexcept { return next_; }
    // Returns the files that are compared, with the contents that were read last.
    [[nodiscard]] const FileContents& files() const noexcept { return tried_; }
    // Returns what the last verdict is about, in the order of files().
    [[nodiscard]] const std::vector<Changed>& changed() const noexcept { return changed_; }

  private:
    enum class Writer : std::uint8_t { unknown, has_it_open, is_done };

    // A content of a file that is not the one that was read.
    struct Change {
        std::optional<Hash128> content;
        SteadyTime since{}; // the first look at this content
        Writer writer = Writer::unknown;
        std::optional<SteadyTime> could_be_read{}; // since then, also with an earlier content
    };
    struct State {
        Writer writer = Writer::unknown; // by the events since the last look
        std::optional<Change> change{};
    };

    static void
    compare(State& state, const FileContent& tried, const FileContent& present, SteadyTime now);
    [[nodiscard]] static SteadyTime at_rest(const Change& change, bool tls);
    [[nodiscard]] bool is_due(SteadyTime now);
    [[nodiscard]] Verdict read_what_is_ready();

    FileContents tried_;
    std::vector<State> states_; // in the order of tried_
    std::vector<Changed> changed_;
    SteadyTime next_{};
    bool applied_ = true;
};

} // namespace stint::runtime
