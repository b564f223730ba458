// One request from its head to the end of its response. Start reading at on_request() in
// exchange.cpp.
#pragma once

#include "admission/request_admission.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "http/body_decoder.hpp"
#include "http/request_id.hpp"
#include "http/rewrite.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/handler_memory.hpp"
#include "net/io.hpp"
#include "observe/access_log.hpp"
#include "proxy/abort_reason.hpp"
#include "proxy/admission/cooldown_wait.hpp"
#include "proxy/admission/worker_callbacks.hpp"
#include "proxy/context.hpp"
#include "proxy/forward/attempts.hpp"
#include "proxy/forward/body_pump.hpp"
#include "proxy/forward/endpoint_wait.hpp"
#include "proxy/forward/pending_request.hpp"
#include "proxy/forward/sending_rate.hpp"
#include "proxy/progress.hpp"
#include "proxy/response/response_trailers.hpp"
#include "server/client_stream.hpp"
#include "server/request_handler.hpp"
#include "upstream/cluster.hpp"
#include "upstream/pool.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stint::proxy {

struct UpgradeState;

// Counts a request among those in flight on its route.
class RouteInFlight {
  public:
    RouteInFlight() = default;
    RouteInFlight(const RouteInFlight&) = delete;
    RouteInFlight& operator=(const RouteInFlight&) = delete;
    ~RouteInFlight() {
        if (counters_ != nullptr)
            --counters_->routes[route_].in_flight;
    }
    void enter(observe::WorkerCounters& counters, std::uint32_t route) noexcept {
        counters_ = &counters;
        route_ = route;
        ++counters.routes[route].in_flight;
    }

  private:
    observe::WorkerCounters* counters_ = nullptr;
    std::uint32_t route_ = 0; // its slot: a reload may move the counters
};

// Lives on one worker, owned by its client's connection for the time of one request. Destructors
// release all it holds, in the reverse order of the members: first the lease, then the permit, last
// the configuration that both point into.
class Exchange final : public server::RequestHandler, private net::Deadline {
  public:
    using Step = server::Step;

    Exchange(Context& context, server::ClientStream& stream);
    ~Exchange();

    // Decides, and sends what can be sent at once: the request to the upstream, or a reply of the
    // gateway's own.
    [[nodiscard]] Step on_request() override;
    // Answers what cannot be read as a request at all, and ends the connection.
    [[nodiscard]] Step on_bad_request(int status, std::string_view detail) override;
    // Runs what takes longer, from the request's current state on.
    [[nodiscard]] net::Task<> rest() override;
    [[nodiscard]] server::RequestEnd finish() override;

    // Aborts the exchange: the client has closed or reset, and no longer waits for the answer.
    void on_client_gone() noexcept override { abort(AbortReason::client_gone); }
    // Polls its tunnel for a reset.
    void poll_tunnel() noexcept override;
    // Waits for the coroutine that sends the rest of the body upstream.
    [[nodiscard]] net::Task<> join() override;

  private:
    using Answer = UpstreamAnswer;
    using Next = NextOfRequest;

    // decide.cpp: no I/O; heads are written to the worker's scratch.
    Next decide();
    void remember(const RequestHead& head);
    void note_fields(std::span<const Field> fields);
    void name_request();
    void find_client(const RequestHead& head);
    routing::KeyFacts facts_of(const RequestHead& head) const;
    Next next_of(admission::Next decided);
    void write_request_head(const RequestHead& head);
    void fail(int status, std::string detail, observe::Outcome outcome);
    void end_as(int status, observe::Outcome outcome) noexcept;

    // wait.cpp: waits for limits, pauses and endpoints.
    net::Task<bool> wait_to_send();
    Duration note_wait();
    net::Task<Next> wait_for_turn();
    Next finish_wait();

    // shaping.cpp: the route's changes to heads.
    [[nodiscard]] PlaceholderValues placeholder_values() const;
    [[nodiscard]] std::optional<http::Shaping>
    shaping(const FieldEdits routing::RouteShape::*edits) const;
    [[nodiscard]] std::string_view path_to_send(std::string_view path) const;
    [[nodiscard]] const std::string& host_to_send() const;

    // send_proxy_protocol.cpp: PROXY headers before requests.
    std::string proxy_protocol_header();

    // respond.cpp: answers from the configuration.
    Next respond();
    void send_to_https();
    void make_answer(const http::ReplyContext& context);
    void add_target(PlaceholderValues& values);

    // request.cpp: towards the upstream.
    bool send_at_once();
    net::Task<bool> send_slowly();
    net::Task<bool> have_connection();
    bool take_idle_again();
    void replace_idle_connection() noexcept;
    net::Task<upstream::Lease::Connected> connect();
    void explain_connect(const upstream::Lease::Connected& connected);
    net::Gather gather_request(std::string_view head, const http::ChunkHeader& chunk) const;
    void hold_request(const http::ChunkHeader& chunk, std::string_view ahead, std::size_t taken);
    void watch_client();
    void request_was_sent(SteadyTime at);
    void first_part_was_sent(const ErrorCode& error, SteadyTime at);

    // endpoint.cpp: the choice of its endpoint, and reports of that one's failures.
    void note_endpoint_key(const routing::KeyFacts& facts);
    Taken take_endpoint(SteadyTime now);
    bool take_other_endpoint();
    [[nodiscard]] std::string_view endpoint_authority() const noexcept;
    void name_endpoint();
    void leave_endpoint() noexcept;
    void endpoint_answered(int status);
    void endpoint_failed(std::string_view why);
    bool take_first_endpoint();
    Next join_endpoint_queue(SteadyTime now);
    Next try_endpoints(SteadyTime now);
    net::Task<Next> wait_for_endpoint();
    Next refuse_unavailable(Taken why, SteadyTime now);

    // retry.cpp: retries.
    [[nodiscard]] bool request_at_hand() const noexcept;
    [[nodiscard]] bool should_reconnect() noexcept;
    [[nodiscard]] bool should_retry(std::string_view why, bool was_sent);
    [[nodiscard]] bool should_retry_connect(const upstream::Lease::Connected& connected);
    [[nodiscard]] bool may_retry(SteadyTime now) noexcept;
    net::Task<> rewind();

    // pump.cpp: a request body that is still arriving.
    std::string_view read_ahead(net::Block& block);
    void on_body_stalled() noexcept;
    void arm_body_deadline();
    void begin_pump();
    bool begin_body();
    static net::Task<> pump(Exchange& self);
    net::Task<bool> send_interim();
    net::Task<bool> read_body(net::Block& block, std::string_view& payload);
    net::Task<bool> forward_body(std::string_view payload);
    net::Task<bool> send_pending();
    net::Task<ErrorCode> wait_for_upstream();
    bool keeps_up(const SendingRate& rate);
    void end_pump();
    void stop_pump() noexcept;

    // cooldown.cpp: pauses that upstreams ask for.
    bool may_send(SteadyTime now);
    bool is_open(SteadyTime now);
    Next enqueue_for_cooldown(SteadyTime now);
    net::Task<Next> wait_out_pause();
    Next admit_after_pause();
    void give_back_admission(const Now& now);
    void heed_answer(const ResponseHead& head);
    WallTime wall_at(SteadyTime at) const noexcept { return begun_.wall + (at - begun_.steady); }

    // response.cpp: towards the client.
    std::span<char> answer_room();
    void begin_answer_read();
    void on_answer_read(const ErrorCode& error, std::size_t size);
    [[nodiscard]] Step take_answer(const ErrorCode& error, std::size_t size);
    [[nodiscard]] auto read_answer() {
        return net::read_some(
            lease_.stream(), answer_room(), read_memory_,
            std::exchange(upstream_input_, net::Input::unknown));
    }
    Answer on_answer(const ErrorCode& error, std::size_t size);
    Answer on_upstream_failure(const ErrorCode& error);
    Answer on_interim(const ResponseHead& head, std::size_t head_size);
    Answer on_response_head(const ResponseHead& head, std::size_t head_size);
    void note_answer(const ResponseHead& head);
    Answer send_head(const server::ForwardedResponse& response, const server::ResponsePiece& piece);
    [[nodiscard]] server::ResponsePiece piece_of(std::string_view payload);
    http::PolicyFields settle(const ResponseHead& head);
    void drop_head(std::size_t head_size) noexcept;
    net::Task<> stream_response();
    net::Task<bool> relay_piece(std::size_t size);
    net::Task<bool> send_to_client(const server::ResponsePiece& piece);
    net::Task<bool> send_unsent();

    // splice.cpp: the rest of a large answer, which the process never sees.
    [[nodiscard]] bool splices() const noexcept;
    net::Task<> splice_response();
    net::Task<bool> splice_piece(net::SplicePipe& pipe);
    net::Task<bool> drain_to_client(net::SplicePipe& pipe);
    net::Task<bool> copy_to_client(net::SplicePipe& pipe);

    // upgrade.cpp: to another protocol than HTTP.
    std::string_view offer_of(const RequestHead& head);
    [[nodiscard]] bool tunnels() const noexcept;
    Answer on_upgrade(const ResponseHead& head, std::size_t head_size);
    net::Task<> run_tunnel();
    static net::Task<> carry_up(Exchange& self, std::string_view early);
    void judge_tunnel() noexcept;

    // reply.cpp: answers of the gateway's own.
    bool reply_at_once();
    net::Task<> reply();
    void reply_for_abort();
    void make_reply();

    // exchange.cpp: the end of the request, for whatever reason.
    [[nodiscard]] bool classify_abort() noexcept;
    void record(const Now& now);
    void log(const Now& now);
    void abort(AbortReason why) noexcept;
    void arm(Waiting what, Duration length);
    void on_deadline() noexcept override;
    [[nodiscard]] const routing::Snapshot& snapshot() const noexcept { return *config_->snapshot; }
    [[nodiscard]] observe::UpstreamCounters& upstream_counters() const noexcept;

    [[nodiscard]] bool has_route() const noexcept { return admission_.route() != nullptr; }
    [[nodiscard]] const routing::Route& route() const noexcept { return *admission_.route(); }

    Context& context_;
    server::ClientStream& stream_;
    const std::shared_ptr<ActiveConfig> config_; // as of the head's arrival
    WorkerCallbacks callbacks_;
    admission::RequestAdmission admission_; // decides, and has the reply and what was granted
    RouteInFlight route_in_flight_;
    upstream::Cluster* cluster_ = nullptr; // the route's
    const routing::ClientAddress* client_; // the peer's, or that behind it
    std::optional<routing::ClientAddress> client_behind_;
    bool peer_is_trusted_ = false;
    Next next_ = Next::reply;
    bool sent_inline_ = false;
    Answer answer_ = Answer::incomplete;
    limits::Cooldown::Pass pass_; // from right before the request is sent, or while it was held
    std::unique_ptr<CooldownWait> cooldown_wait_; // once it has had to wait for the scope
    std::unique_ptr<EndpointWait> endpoint_wait_; // while every endpoint is full
    upstream::InFlightToken in_flight_;           // endpoint_'s, until the end
    upstream::Lease lease_;
    Now begun_;
    Duration waited_{};     // for its turn, or for a pause to end
    SteadyTime sent_{};     // when the request, or its first part, was sent
    SteadyTime answered_{}; // when the response's head had come

    std::string_view request_id_; // the client's, or made_id_
    http::RequestIdSource::Text made_id_{};
    std::exception_ptr failure_; // thrown while the answer's head was read

    // Towards the upstream.
    upstream::Pool* pool_ = nullptr; // the endpoint's
    upstream::Cluster::Member* endpoint_ = nullptr;
    std::uint64_t endpoint_key_ = 0; // the key of balance: hash
    Attempts attempts_;
    PendingRequest pending_request_;
    bool request_sent_ = false; // the upstream's socket has taken the whole request
    Waiting waiting_ = Waiting::connect;
    BodyPump body_pump_;
    net::DeadlineOf<Exchange, &Exchange::on_body_stalled> body_deadline_{*this};

    // Towards the client.
    net::HandlerMemory read_memory_; // for the read that waits for the upstream's answer
    net::Input upstream_input_ = net::Input::unknown;
    net::Block block_;
    std::size_t filled_ = 0; // bytes in block_ while the response's head is incomplete
    std::size_t scanned_ = 0;
    unsigned interims_ = 0;
    http::BodyDecoder response_body_{{}};
    ResponseTrailers trailers_;
    std::unique_ptr<UpgradeState> upgrade_; // where other protocols are offered to the upstream
    bool takes_trailers_ = false;           // the client accepts trailers
    bool upstream_keeps_ = false;

    // For the access log and the counters.
    int status_ = 0;
    AbortReason abort_reason_ = AbortReason::no;
    observe::Outcome outcome_ = observe::Outcome::forwarded;
    Duration upstream_time_{};
    boost::container::small_vector<observe::LoggedField, 4> logged_;
};

} // namespace stint::proxy
