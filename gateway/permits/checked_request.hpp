// A request that another proxy describes, from its head through its route's limits to the reply.
// Start reading at begin().
#pragma once

#include "admission/request_admission.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "http/request_id.hpp"
#include "permits/deferred_reply.hpp"
#include "proxy/admission/worker_callbacks.hpp"
#include "proxy/context.hpp"
#include "routing/client_address.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::permits {

// Lives on one worker, for one call. Destroyed while it waits, it loses its place in the queue, and
// what it was charged goes back.
class CheckedRequest final : public DeferredReply {
  public:
    // deny: if set, replaces the status of every refusal.
    CheckedRequest(proxy::Context& context, std::optional<int> deny);

    enum class Step : std::uint8_t { answered, waits };
    // Decides about the request. text: its head, which outlives the call. peer: the trusted proxy
    // that describes it.
    [[nodiscard]] Step begin(std::string_view text, const routing::ClientAddress& peer);

    [[nodiscard]] net::Task<> wait() override;
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override;
    void respond(http::Response& to) override;

  private:
    [[nodiscard]] Step step_of(admission::Next next);

    // checked_reply.cpp
    void write_not_checked(http::HeadBuffer& head) const;
    void grant(http::Response& to, const http::ReplyContext& context) const;
    template <class Visit>
    void for_each_not_checked(Visit visit) const;

    proxy::Context& context_;
    const std::shared_ptr<proxy::ActiveConfig> config_;
    const std::optional<int> deny_;
    proxy::WorkerCallbacks callbacks_;
    admission::RequestAdmission admission_;
    std::string_view request_id_;
    http::RequestIdSource::Text made_id_{};
    std::string kept_id_; // the client's, once it waits
    int status_ = 200;
};

} // namespace stint::permits
