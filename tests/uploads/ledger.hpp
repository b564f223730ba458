// What both sides have seen, and what must not be. Shared by all threads.
#pragma once

#include "upload.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace stint::uploads {

// What goes wrong at the upstream. The first that has no effect on a connection is `none`.
enum class Fault : std::uint8_t {
    none,
    close_idle,     // closes a connection that is idle
    reset_idle,     // resets it
    reset_crossing, // resets it as soon as a part of the next request is there
    reset_inside,   // resets in the middle of a request
    close_inside,   // closes there, without an answer
    reset_later,    // takes a part, takes nothing for a while, resets
    early_hold,     // 413 before the body's end; reads no more, and leaves the connection open
    early_read,     // 413 before the body's end; reads the rest
    early_good,     // 200 before the body's end; reads the rest, and keeps the connection
    early_reset,    // 413, and resets while the body comes
    busy,           // 503 before the body's end: the upstream asks for a pause
    stall,          // takes nothing for a while, then all
    slow,           // reads a little at a time
    close_told,     // a good answer with Connection: close
    refused,        // an endpoint refuses connections for a while
    count,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Fault::count)> fault_names =
    {"none",        "close idle", "reset idle", "reset crossing", "reset inside", "close inside",
     "reset later", "early hold", "early read", "early good",     "early reset",  "busy",
     "stall",       "slow",       "close told", "refused"};

enum class Wrong : std::uint8_t {
    smuggled,    // a request that no client has sent, out of the body of one
    foreign,     // bytes at the upstream that are no request
    head,        // fields that no client has sent, or that are missing
    body,        // bytes missing or changed
    twice,       // a request that must not be sent twice
    answer,      // a client got the answer of another request
    unasked,     // a client got bytes that it had not asked for
    lost_answer, // the upstream has answered, and the client has not got it
    no_answer,   // a client got none at all
    bad_status,  // one that nothing explains
    count,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Wrong::count)> wrong_names =
    {"smuggled", "foreign bytes", "head",        "body",      "sent twice",
     "answer",   "unasked",       "lost answer", "no answer", "bad status"};

class Ledger {
  public:
    Ledger(std::uint64_t seed, std::uint64_t count);

    const std::uint64_t seed;
    const std::uint64_t count; // uploads are 1 to count
    std::atomic<std::size_t> head_growth{0};
    std::atomic<bool> stopping{false};
    std::atomic<std::uint64_t> blocked{0}; // requests of which a part was still with Stint

    // The upstream has got a part of this request, for the first time on a connection; how often
    // that has been so before.
    unsigned take(const Upload& upload);
    [[nodiscard]] bool was_taken(std::uint64_t id) const { return records_[id].taken > 0; }
    // The upstream has answered it before its end, and does nothing that might destroy the answer.
    void promise_answer(std::uint64_t id) { records_[id].promised = true; }
    [[nodiscard]] bool answer_promised(std::uint64_t id) const { return records_[id].promised; }

    void note(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
    [[nodiscard]] std::uint64_t noted(Fault fault) const {
        return faults_[static_cast<std::size_t>(fault)];
    }
    void report(Wrong wrong, const std::string& text);
    [[nodiscard]] std::uint64_t violations() const;
    void note_status(int status);
    void print() const;

  private:
    struct Record {
        std::atomic<std::uint16_t> taken{0};
        std::atomic<bool> promised{false};
    };

    const std::unique_ptr<Record[]> records_;
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Fault::count)> faults_{};
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Wrong::count)> wrongs_{};
    std::array<std::atomic<std::uint64_t>, 600> statuses_{};
    std::mutex printing_;
};

} // namespace stint::uploads
