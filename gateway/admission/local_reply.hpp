// The gateway's own replies (local replies): their kind and content, but not how they are sent.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "http/local_reply.hpp"
#include "http/media_type.hpp"
#include "http/slot_ticket.hpp"
#include "limits/decision.hpp"
#include "routing/charges.hpp"
#include "routing/fence.hpp"

#include <boost/container/small_vector.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace stint::admission {

// The local reply to one request. make() makes the reply that was set last. Names and bodies of
// limits and upstreams are views into the request's configuration snapshot.
class LocalReply {
  public:
    LocalReply() = default;
    LocalReply(const LocalReply&) = delete; // it refers to itself
    LocalReply& operator=(const LocalReply&) = delete;

    // Sets a problem document (RFC 9457) that explains the status. detail: shown to the client.
    void explain(std::string detail);
    // Sets the reply about an upstream that failed or could not be asked. why: for logs, as it
    // names endpoints; the client gets a general text for the status.
    void blame_upstream(std::string why);
    // Returns the `why` of blame_upstream(); empty where the upstream has not failed.
    [[nodiscard]] std::string_view upstream_error() const noexcept {
        const bool explains = kind_ == Kind::problem || kind_ == Kind::unavailable;
        return explains && blames_upstream_ ? std::string_view{detail_} : std::string_view{};
    }
    // Sets the refusal (503) by a shared limit whose store has not answered.
    void blame_store(routing::AppliedLimit limit, Duration retry_after);
    // Turns the reply of explain() or blame_upstream() into a 503 with this Retry-After.
    void set_retry_after(Duration retry_after);
    // Sets 405 with the methods that the path serves.
    void refuse_method(std::string allowed);
    // Sets 200 as the answer to an OPTIONS that is not forwarded, with the methods that the path
    // serves.
    void answer_options(std::string allowed);
    // Sets a limit's refusal, with its own status. retry_after: as the client gets it.
    void
    refuse(const routing::Charges& charges, const limits::Decision& decision, Duration retry_after);
    // Replaces a limit's own answer with 429 and a problem document. Call after refuse().
    void use_default_body() noexcept;
    // Replaces a limit's own body with the usual explanation. Call after refuse().
    void leave_out_own_body() noexcept { limited_.content_type = {}; }
    // Adds the ticket of a slot that was reserved for the client's retry. Call before refuse().
    void add_ticket(const http::SlotName& slot, const KeyHasher& seals);
    // Sets 403: a limit denies the request for another reason than its rate.
    void deny(routing::AppliedLimit limit, routing::Denial denial);
    // Sets 412: the request lacks the fencing number of this lock.
    void reject_fencing_token(const limits::Limit& lock, routing::ShownFence::Fault fault);
    // Sets the refusal during a pause that the upstream has asked for.
    void pause(const http::PausedReply& reply);

    // Sets the media type that the request prefers; problem_json until it is known.
    void use(http::MediaType media) noexcept { media_ = media; }
    [[nodiscard]] bool knows_media() const noexcept { return media_.has_value(); }
    [[nodiscard]] bool is_pause() const noexcept { return kind_ == Kind::pause; }
    // True if a limit, a cap or its queue refuses the request.
    [[nodiscard]] bool is_by_limit() const noexcept { return kind_ == Kind::limit; }
    // Returns the reply's Retry-After; nothing if the reply has none, because a retry does not
    // help.
    [[nodiscard]] std::optional<Duration> retry_after() const noexcept;
    // True if the refusal is not for the request's rate: 403 by a limit, 412 by a lock.
    [[nodiscard]] bool is_denial() const noexcept {
        return kind_ == Kind::denial || kind_ == Kind::fence;
    }
    // Returns the explanation of a problem or a denial; a part of a sentence.
    [[nodiscard]] std::string_view detail() const noexcept { return detail_; }
    // Returns the name of the limit that refuses or denies the request, or of the lock that a 412
    // is about; empty for any other reply.
    [[nodiscard]] std::string_view limit() const noexcept { return limited_.limit; }

    // Makes the response. status: used by replies that have no status of their own. Sets
    // context.media itself.
    void make(http::Response& to, http::ReplyContext context, int status) const;

  private:
    enum class Kind : std::uint8_t {
        problem,
        unavailable,
        method,
        options,
        limit,
        denial,
        fence,
        pause
    };

    Kind kind_ = Kind::problem;
    bool blames_upstream_ = false;
    std::optional<http::MediaType> media_;
    std::string detail_;
    std::string allowed_;
    http::LimitedReply limited_;
    boost::container::small_vector<std::string_view, limits::few_charges> also_refusing_;
    std::string ticket_; // tickets of the reserved slots; limited_ refers to it
    http::PausedReply paused_;
    Duration retry_after_{}; // for Kind::unavailable
};

} // namespace stint::admission
