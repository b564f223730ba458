#include "permits/service.hpp"

#include "net/clock.hpp"
#include "permits/request_handler.hpp"

#include <atomic>

namespace stint::permits {

Service::Service(proxy::Context& worker, Shared& for_all)
    : context{worker}, shared{for_all}, persistence_waits{for_all.locks, worker.executor} {}

Service::~Service() = default;

void Service::adopt() {
    const server::ConnectionSettings& proxied = context.active->connections;
    settings_ = {
        .head_timeout = proxied.head_timeout,
        .idle_timeout = proxied.idle_timeout,
        .max_head = RequestHandler::max_head,
        .max_fields = proxied.max_fields,
        .max_connections = proxied.max_connections,
        .head_blocks = &context.head_blocks(RequestHandler::max_head),
        .batches_responses = true,
        .head_too_large = "the request's head is larger than 16 KiB"};
}

std::unique_ptr<server::Session> Service::open_session() {
    return std::make_unique<LeaseSession>(context, shared.locks, next_leases());
}

std::uint64_t Service::next_leases() noexcept {
    return shared.connection_leases.fetch_add(1, std::memory_order_relaxed) + 1;
}

server::RequestHandlerPtr Service::make_handler(server::ClientStream& stream) {
    return as_base<server::RequestHandler>(handlers_.make(*this, stream));
}

} // namespace stint::permits
