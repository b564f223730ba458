// A request's identity and outcome, for the access log and the counters.
#pragma once

#include "base/ip_address.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "http/request_id.hpp"
#include "observe/access_log.hpp"
#include "observe/outcome.hpp"
#include "routing/client_address.hpp"
#include "routing/snapshot.hpp"

#include <boost/container/small_vector.hpp>

#include <optional>
#include <string_view>

namespace stint::proxy {

class RequestRecord {
  public:
    // peer: must outlive the record.
    RequestRecord(const routing::ClientAddress* peer, const Now& arrived) noexcept
        : arrived_{arrived}, client_{peer} {}
    RequestRecord(const RequestRecord&) = delete;
    RequestRecord& operator=(const RequestRecord&) = delete;

    // Takes from the head: the request's id, the fields to log, and the client behind trusted
    // proxies. A peer that is not trusted is itself the client, whatever its headers say.
    void take(
        const RequestHead& head,
        const routing::Snapshot& snapshot,
        http::RequestIdSource& ids,
        const KeyHasher& hasher);
    // Makes an id for a request that has none.
    void name(http::RequestIdSource& ids);

    [[nodiscard]] std::string_view id() const noexcept { return id_; }
    [[nodiscard]] const routing::ClientAddress& client() const noexcept { return *client_; }
    [[nodiscard]] bool peer_is_trusted() const noexcept { return peer_is_trusted_; }
    // The time at which the request's head had arrived.
    [[nodiscard]] const Now& arrived() const noexcept { return arrived_; }
    // Returns the wall time of `at`, computed from the arrival. The wall clock is read only once
    // for each request.
    [[nodiscard]] WallTime wall_at(SteadyTime at) const noexcept {
        return arrived_.wall + (at - arrived_.steady);
    }

    void end_as(int status, observe::Outcome outcome) noexcept {
        status_ = status;
        outcome_ = outcome;
    }
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] observe::Outcome outcome() const noexcept { return outcome_; }

    // Adds a wait for a limit, a pause or an endpoint.
    void add_wait(Duration length) noexcept { waited_ += length; }
    // Sets the time from the request being sent to its response's head.
    void set_upstream_time(Duration length) noexcept { upstream_time_ = length; }

    // Sets the members of an access-log line that this record knows.
    void fill(observe::AccessRecord& line) const noexcept;

  private:
    void note_fields(const RequestHead& head, const routing::Snapshot& snapshot);

    const Now arrived_;
    const routing::ClientAddress* client_;
    std::optional<routing::ClientAddress> client_behind_;
    bool peer_is_trusted_ = false;
    std::string_view id_; // the client's X-Request-Id, or a view of made_id_
    http::RequestIdSource::Text made_id_{};
    boost::container::small_vector<observe::LoggedField, 4> logged_;
    int status_ = 0;
    observe::Outcome outcome_ = observe::Outcome::forwarded;
    Duration waited_{};
    Duration upstream_time_{};
};

} // namespace stint::proxy
