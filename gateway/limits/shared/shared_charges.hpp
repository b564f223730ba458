// One worker's requests to the store of shared counters. Each gets exactly one answer, and no
// granted charge is lost.
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

// One per worker; not thread-safe, takes no lock. Outlives its requests. The store's client gives
// no answer after its end.
class SharedCharges {
    struct Record;

  public:
    // One request's charges at the store. The destructor gives back charges that were granted but
    // not handed over, also if the grant comes later.
    class Request {
      public:
        Request() = default;
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;

        [[nodiscard]] const std::optional<SharedAnswer>& answer() const noexcept { return answer_; }
        // Sends the charges to the store. True if the answer is there at once. Otherwise answered()
        // is called later: at answer_by at the latest, if expire() is called then. Requires: no
        // charges are posted. Throws std::bad_alloc with nothing posted.
        [[nodiscard]] bool post(
            SharedCharges& to,
            std::span<const Charge> charges,
            SteadyTime answer_by,
            const Now& now);
        // Gives the request up. Idempotent.
        void cancel() noexcept;
        // Moves the granted charges into the permit, which gives slots back to the store when it
        // ends. first: the permit's index of the first charge. Requires: granted. Throws
        // std::bad_alloc with nothing changed.
        void hand_over(Permit& permit, std::size_t first, const Now& now);

      protected:
        ~Request() { cancel(); }

      private:
        friend class SharedCharges;

        // Called with the answer, unless it came within post(). May destroy the request.
        virtual void answered() noexcept = 0;

        SharedCharges* of_ = nullptr;
        Record* record_ = nullptr; // from post() until a refusal, hand_over() or cancel()
        std::optional<SharedAnswer> answer_;
    };

    explicit SharedCharges(SharedCounters& counters) noexcept;
    SharedCharges(const SharedCharges&) = delete;
    SharedCharges& operator=(const SharedCharges&) = delete;
    ~SharedCharges();

    // Takes the store client's answer to the request of this number. A grant to a request that was
    // given up is given back.
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
    struct Record : Hook { // linked while its request waits
        std::uint64_t number = 0;
        boost::container::small_vector<Charge, 2> charges;
        // Keeps the charges' limits alive for a later give_back().
        boost::container::small_vector<LimitPtr, 2> limits;
        SteadyTime answer_by{};
        Request* request = nullptr; // nullptr: the request was given up
        bool answered = false;      // the store's client has answered
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
    std::vector<Records::node_type> spare_; // records to reuse
    boost::intrusive::multiset<Record, boost::intrusive::compare<ByDeadline>> by_deadline_;
    // The request whose post() calls counters_.charge() now, which may call answer(): post()
    // returns its answer. Requests that are answered within that call besides are told by
    // answered().
    Request* posting_ = nullptr;
    Now latest_{};
};

} // namespace stint::limits
