// What the gateway answers itself: which reply it is, and all that it says. Not how it is sent.
#pragma once

#include "base/hash.hpp"
#include "http/head_buffer.hpp"
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

namespace stint::proxy {

// One per exchange, which seldom needs it. What is said last is what write() answers. Names and
// bodies of limits and upstreams are views into the exchange's configuration.
class LocalReply {
  public:
    LocalReply() = default;
    LocalReply(const LocalReply&) = delete; // it refers to itself
    LocalReply& operator=(const LocalReply&) = delete;

    // A problem document about nothing but the status.
    void explain(std::string detail);
    // The upstream has failed, or could not be asked. why: for logs, as it names endpoints; clients
    // are told no more than the status says.
    void blame_upstream(std::string why);
    // Why that was; empty where it has not failed.
    [[nodiscard]] std::string_view upstream_error() const noexcept {
        const bool explains = kind_ == Kind::problem || kind_ == Kind::unavailable;
        return explains && blames_upstream_ ? std::string_view{detail_} : std::string_view{};
    }
    // Behind these, of a 503: when it is worth another try.
    void set_retry_after(Duration retry_after);
    // 405 with the methods that the path serves.
    void refuse_method(std::string allowed);
    // 200 to an OPTIONS that ends here, with the same.
    void answer_options(std::string allowed);
    // A limit has refused, with its own status. retry_after: as the client is to be told.
    void
    refuse(const routing::Charges& charges, const limits::Decision& decision, Duration retry_after);
    // Behind refuse(): 429 and a problem document, whatever the limit says for itself.
    void use_default_body() noexcept;
    // Before refuse(): a slot that the request has been given to come back with.
    void add_ticket(const http::SlotName& slot, const KeyHasher& seals);
    // 403: not a matter of how often.
    void deny(const routing::RouteLimit& limit, routing::Denial denial);
    // 412: the request lacks the fencing number of this lock.
    void reject_fencing_token(const limits::Limit& lock, routing::ShownFence::Fault fault);
    // The upstream has asked for a pause.
    void pause(const http::PausedReply& reply);

    // As the request wishes; problem_json until it is known.
    void use(http::MediaType media) noexcept { media_ = media; }
    [[nodiscard]] bool knows_media() const noexcept { return media_.has_value(); }
    [[nodiscard]] bool is_pause() const noexcept { return kind_ == Kind::pause; }
    // The name of the limit that refuses, denies or fences off; empty where none does.
    [[nodiscard]] std::string_view limit() const noexcept { return limited_.limit; }

    // Appends the whole response. status: of a reply of which nothing else says it. context.media
    // is ours to say.
    void write(http::HeadBuffer& out, http::ReplyContext context, int status) const;

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
    std::string ticket_; // of its slots, for limited_
    http::PausedReply paused_;
    Duration retry_after_{}; // of an unavailable
};

} // namespace stint::proxy
