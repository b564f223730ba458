// A request that another proxy describes, from its head through its route's limits to the reply.
// Start reading at decide().
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "http/request_id.hpp"
#include "limits/limit.hpp"
#include "limits/prepaid.hpp"
#include "proxy/admission/find_route.hpp"
#include "proxy/admission/rate_limit_headers.hpp"
#include "proxy/context.hpp"
#include "proxy/response/local_reply.hpp"
#include "routing/charges.hpp"
#include "routing/client_address.hpp"

#include <boost/container/static_vector.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace stint::permits {

// Lives on one worker, for one call.
class CheckedRequest {
  public:
    explicit CheckedRequest(proxy::Context& context);
    CheckedRequest(const CheckedRequest&) = delete;
    CheckedRequest& operator=(const CheckedRequest&) = delete;

    // Decides about the request. text: its head, which outlives this object. peer: the trusted
    // proxy that describes it.
    void decide(std::string_view text, const routing::ClientAddress& peer);

    // Appends the whole response. deny: if set, replaces every status but 200.
    void write(http::HeadBuffer& out, http::ReplyContext context, std::optional<int> deny) const;

  private:
    void name(const RequestHead& head);
    bool select_route(const proxy::FoundRoute& found);
    bool is_open(const routing::KeyFacts& facts);
    void admit(const routing::KeyFacts& facts, FieldIds ids);
    void leave_out_unchecked(routing::Charges& charges);
    void claim_permit(routing::Charges& charges, std::span<const Field> fields);
    limits::Decision admit_now(routing::Charges& charges, const routing::KeyFacts& facts);
    limits::Decision admit_behind_line(const routing::Charges& charges);
    void refuse(const routing::Charges& charges, const limits::Decision& decision);
    void deny(const routing::RouteLimit& limit, routing::Denial denial);
    void fail(int status, std::string_view detail);

    // checked_reply.cpp
    void write_not_checked(http::HeadBuffer& head) const;
    void write_granted(http::HeadBuffer& out, const http::ReplyContext& context) const;
    void
    write_denied(http::HeadBuffer& out, std::string_view answer, std::optional<int> deny) const;

    [[nodiscard]] const routing::Snapshot& snapshot() const noexcept { return *config_->snapshot; }

    proxy::Context& context_;
    const std::shared_ptr<proxy::ActiveConfig> config_;
    const Now now_;
    std::string_view request_id_;
    http::RequestIdSource::Text made_id_{};
    const routing::Route* route_ = nullptr;
    std::uint64_t recent_ = 0; // its number in Context::recent
    boost::container::static_vector<std::string_view, limits::max_charges> not_checked_;
    limits::PrepaidPermits::Claim prepaid_;
    proxy::RateLimitHeaders rate_limit_headers_;
    int status_ = 200;
    proxy::LocalReply reply_; // for any other status
};

} // namespace stint::permits
