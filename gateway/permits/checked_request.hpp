// Forward-auth: a request that another proxy describes, from its head through its route's limits to
// the reply. Start reading at begin().
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

// Lives on one worker, for one forward-auth call. Destroying it while it waits gives up its place
// in the queue and refunds its charges.
class CheckedRequest final : public DeferredReply {
  public:
    // deny: if set, replaces the status of every refusal. connection: the asking one.
    CheckedRequest(
        proxy::Context& context, std::optional<int> deny, const server::ConnectionInfo& connection);

    enum class Step : std::uint8_t { answered, waits };
    // Admits, refuses or queues the described request. text: the request's head, valid during the
    // call. peer: the trusted proxy that describes the request.
    [[nodiscard]] Step begin(std::string_view text, const routing::ClientAddress& peer);

    [[nodiscard]] net::Task<> wait() override;
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override;
    void respond(http::Response& to) override;

  private:
    [[nodiscard]] Step step_of(admission::Next next);

    // Defined in checked_reply.cpp:
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
    std::string kept_id_; // copy of the client's request id while the request waits
    int status_ = 200;
};

} // namespace stint::permits
