// The requests of one worker that wait for the answer of shared counters: exactly one answer each,
// no charge left over.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"
#include "limits/permit.hpp"
#include "limits/shared/shared_counters.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace stint::limits {

// Not thread-safe: one worker's. Takes no lock. Outlives its requests; the client answers nothing
// after its end.
class SharedCharges {
    struct Record;

  public:
    // The charges of one request. At its end it gives back the charges that were granted but not
    // handed over, also those that are granted later.
    class Request {
      public:
        Request() = default;
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;

        [[nodiscard]] const std::optional<SharedAnswer>& answer() const noexcept { return answer_; }
        // Posts the charges. True if they are answered; else answered() comes, at answer_by at the
        // latest if expire() is called then. Requires: nothing is posted. Throws std::bad_alloc
        // with nothing posted.
        [[nodiscard]] bool post(
            SharedCharges& to,
            std::span<const Charge> charges,
            SteadyTime answer_by,
            const Now& now);
        // Gives the request up. Idempotent.
        void cancel() noexcept;
        // Hands the granted charges over to the permit, which gives slots back when it ends. first:
        // the permit's index of the first one. Requires: granted. Throws std::bad_alloc with
        // nothing changed.
        void hand_over(Permit& permit, std::size_t first, const Now& now);

      protected:
        ~Request() { cancel(); }

      private:
        friend class SharedCharges;

        // Reports the answer, which did not come within post(). May end the request.
        virtual void answered() noexcept = 0;

        SharedCharges* of_ = nullptr;
        Record* record_ = nullptr; // until the answer is handed over, or cancel()
        std::optional<SharedAnswer> answer_;
    };

    explicit SharedCharges(SharedCounters& counters) noexcept;
    SharedCharges(const SharedCharges&) = delete;
    SharedCharges& operator=(const SharedCharges&) = delete;
    ~SharedCharges();

    // The client's answer to a number. One that no request waits for is given back, if granted.
    void answer(std::uint64_t number, SharedAnswer answer) noexcept;
    // Answers `failed` to requests whose time is over. Returns when to call it next;
    // SteadyTime::max(): not until another post().
    SteadyTime expire(const Now& now) noexcept;

    [[nodiscard]] std::size_t waiting() const noexcept { return by_deadline_.size(); }
    // Returns the latest `now` of any call.
    [[nodiscard]] const Now& latest() const noexcept { return latest_; }

  private:
    struct ByDeadline {
        bool operator()(const Record& a, const Record& b) const noexcept;
    };
    using Hook = boost::intrusive::set_base_hook<>;
    struct Record : Hook { // linked: its request waits
        std::uint64_t number = 0;
        boost::container::small_vector<Charge, 2> charges;
        boost::container::small_vector<LimitPtr, 2> limits; // which may be given back to later
        SteadyTime answer_by{};
        Request* request = nullptr; // nullptr: it was given up
        bool answered = false;      // by the client
    };

    using Records = std::unordered_map<std::uint64_t, Record>; // by number

    static std::uint64_t next_number() noexcept;
    [[nodiscard]] Record& make_record(std::span<const Charge> charges);
    void leave(Record& record) noexcept;
    void give_back(const Record& record, std::uint32_t not_charged) noexcept;
    void give_up(Record& record, std::uint32_t not_charged) noexcept;
    void forget(Record& record) noexcept;

    SharedCounters& counters_;
    Records records_;
    std::vector<Records::node_type> spare_; // for later requests
    boost::intrusive::multiset<Record, boost::intrusive::compare<ByDeadline>> by_deadline_;
    bool posting_ = false; // an answer is within post()
    Now latest_{};
};

} // namespace stint::limits
