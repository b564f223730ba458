// One worker's requests that wait for a share of a limit.
#pragma once

#include "limits/shared/share_source.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace stint::limits {

// One per worker. All functions but answer() are called on the worker's thread. Must outlive the
// store's client (ShareSource), which calls answer() until it is destroyed.
class ShareRequests {
  public:
    // One request's wait. The destructor ends it.
    class Request {
      public:
        Request() = default;
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;

        [[nodiscard]] bool waits() const noexcept { return of_ != nullptr; }
        // Begins to wait for the answers to `wants` calls of ask(), which follow. Requires: it does
        // not wait. Throws std::bad_alloc with nothing changed.
        void begin(ShareRequests& of, std::size_t wants);
        void ask(ShareSource& source, const ShareWanted& wanted) noexcept;
        // Ends the wait without an answer. Idempotent.
        void cancel() noexcept;

      protected:
        ~Request() { cancel(); }

      private:
        friend class ShareRequests;
        // Called when all answers have come, or one of them is a failure; never within ask(). The
        // wait is over. May destroy the request.
        virtual void answered(ShareAnswer answer) noexcept = 0;

        ShareRequests* of_ = nullptr;
        std::uint64_t number_ = 0;
        std::size_t unanswered_ = 0;
    };

    ShareRequests() = default;
    ShareRequests(const ShareRequests&) = delete;
    ShareRequests& operator=(const ShareRequests&) = delete;

    // Asks for a share for which no request waits. Throws std::bad_alloc.
    void ask(ShareSource& source, const ShareWanted& wanted);
    // Takes an answer to ShareSource::want(). Any thread; notify() follows on the same thread.
    void answer(std::uint64_t number, ShareAnswer answer) noexcept;
    // Calls Request::answered() of the requests whose answers have come. Call after notify(), on
    // the worker's thread.
    void deliver() noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return by_number_.size(); }

  protected:
    ~ShareRequests();

  private:
    // Requests a call of deliver() on the worker's thread. Any thread.
    virtual void notify() noexcept = 0;

    struct Answered {
        std::uint64_t number;
        ShareAnswer answer;
    };
    void expect(std::size_t answers);

    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, Request*> by_number_;
    std::mutex mutex_;
    std::vector<Answered> inbox_; // with room for every answer that is still to come
    std::size_t expected_ = 0;    // answers that are still to come, also to ended waits
};

} // namespace stint::limits
