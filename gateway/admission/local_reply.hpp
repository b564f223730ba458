// The gateway's own replies: their kind and all of their content. Not how they are sent.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "http/local_reply.hpp"
#include "http/media_type.hpp"
#include "http/slot_ticket.hpp"
#include "limits/decision.hpp"
#include "routing/charges.hpp"
#include "routing/fence.hpp"

#include <boost/container/static_vector.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace stint::admission {

// One per exchange, which seldom needs it. make() makes the reply that was set last. Names and
// bodies of limits and upstreams are views into the exchange's configuration.
class LocalReply {
  public:
    LocalReply() = default;
    LocalReply(const LocalReply&) = delete; // it refers to itself
    LocalReply& operator=(const LocalReply&) = delete;

    // Sets a problem document about nothing but the status.
    void explain(std::string detail);
    // Sets the failure of an upstream, or that it could not be asked. why: for logs, as it names
    // endpoints; clients get no more than the status says.
    void blame_upstream(std::string why);
    // Returns the `why` of blame_upstream(); empty where the upstream has not failed.
    [[nodiscard]] std::string_view upstream_error() const noexcept {
        const bool explains = kind_ == Kind::problem || kind_ == Kind::unavailable;
        return explains && blames_upstream_ ? std::string_view{detail_} : std::string_view{};
    }
    // Sets the refusal (503) by a shared limit whose store has not answered.
    void blame_store(const routing::RouteLimit& limit, Duration retry_after);
    // Adds to either of these, for a 503, when a retry is worth it.
    void set_retry_after(Duration retry_after);
    // Sets 405 with the methods that the path serves.
    void refuse_method(std::string allowed);
    // Sets 200 to an OPTIONS that ends here, with the same methods.
    void answer_options(std::string allowed);
    // Sets a limit's refusal, with its own status. retry_after: as the client gets it.
    void
    refuse(const routing::Charges& charges, const limits::Decision& decision, Duration retry_after);
    // Replaces a limit's own answer with 429 and a problem document. Call after refuse().
    void use_default_body() noexcept;
    // Adds the ticket of a slot given to the request to come back with. Call before refuse().
    void add_ticket(const http::SlotName& slot, const KeyHasher& seals);
    // Sets 403: not for the request's rate.
    void deny(const routing::RouteLimit& limit, routing::Denial denial);
    // Sets 412: the request lacks the fencing number of this lock.
    void reject_fencing_token(const limits::Limit& lock, routing::ShownFence::Fault fault);
    // Sets the refusal during a pause that the upstream has asked for.
    void pause(const http::PausedReply& reply);

    // Sets the media type that the request prefers; problem_json until it is known.
    void use(http::MediaType media) noexcept { media_ = media; }
    [[nodiscard]] bool knows_media() const noexcept { return media_.has_value(); }
    [[nodiscard]] bool is_pause() const noexcept { return kind_ == Kind::pause; }
    // Returns when a refused client may come back, as the reply says; nothing where that does not
    // help.
    [[nodiscard]] std::optional<Duration> retry_after() const noexcept;
    // True if the refusal is not for the request's rate: 403 by a limit, 412 by a lock.
    [[nodiscard]] bool is_denial() const noexcept {
        return kind_ == Kind::denial || kind_ == Kind::fence;
    }
    // Returns the explanation of a problem or a denial; a part of a sentence.
    [[nodiscard]] std::string_view detail() const noexcept { return detail_; }
    // Returns the name of the limit that refuses, denies or fences off; empty where none does.
    [[nodiscard]] std::string_view limit() const noexcept { return limited_.limit; }

    // Makes the response. status: for replies that have no status of their own. Sets context.media
    // itself.
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
    boost::container::static_vector<std::string_view, limits::max_charges> also_refusing_;
    std::string ticket_; // tickets of its slots, for limited_
    http::PausedReply paused_;
    Duration retry_after_{}; // for Kind::unavailable
};

} // namespace stint::admission
