#include "permits/lock_call.hpp"

#include "http/permit_text.hpp"
#include "http/query.hpp"
#include "http/reply_writer.hpp"
#include "net/clock.hpp"
#include "permits/lock_json.hpp"
#include "permits/names.hpp"
#include "permits/no_lock.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace stint::permits {
namespace {

constexpr std::string_view prefix = "/v1/locks";

constexpr std::string_view lock_paths =
    "there is nothing here; there are /v1/locks, /v1/locks/NAME, /v1/locks/NAME/leases and "
    "/v1/locks/NAME/leases/ID";

constexpr std::string_view not_held =
    "hold=connection needs a connection that stays: HTTP/1.1, without Connection: close";

struct LockTarget {
    enum class What : std::uint8_t { locks, lock, leases, lease } what{};
    std::string name{}; // decoded
    Hash128 lease{};
};
using FoundLockTarget = Result<LockTarget, http::HeadError>;

FoundLockTarget lock_target_of(std::string_view path) {
    path.remove_prefix(prefix.size());
    if (path.empty())
        return LockTarget{LockTarget::What::locks};
    path.remove_prefix(1);
    const std::size_t end = path.find('/');
    auto name = read_lock_name(path.substr(0, end));
    if (!name)
        return name.error();
    if (end == std::string_view::npos)
        return LockTarget{LockTarget::What::lock, std::move(*name)};
    constexpr std::string_view leases = "/leases";
    path.remove_prefix(end);
    if (path == leases)
        return LockTarget{LockTarget::What::leases, std::move(*name)};
    if (!path.starts_with(leases) || path[leases.size()] != '/')
        return http::HeadError{404, lock_paths};
    const auto lease = http::parse_lease(path.substr(leases.size() + 1));
    if (!lease)
        return http::HeadError{400, "this is no lease's id: l_ and 32 hexadecimal digits"};
    return LockTarget{LockTarget::What::lease, std::move(*name), *lease};
}

std::optional<locks::LeaseBinding> binding_of(std::string_view query) noexcept {
    const auto binding = http::parameter(query, "hold");
    if (!binding || *binding == "lease")
        return locks::LeaseBinding::lease;
    if (*binding == "connection")
        return locks::LeaseBinding::connection;
    return *binding == "stream" ? std::optional{locks::LeaseBinding::stream} : std::nullopt;
}

// One request about locks, while it is being answered.
struct LockCall {
    Service& service;
    const RequestHead& head;
    std::string_view body;
    LeaseOwners& owners;
    http::Response& to;

    static PendingPtr none() noexcept { return {}; }
    PendingPtr fail(int status, std::string_view detail) const {
        http::make_problem(to, {}, status, detail);
        return none();
    }
    PendingPtr not_allowed(std::string_view allow) const {
        http::make_method_not_allowed(to, {}, allow);
        return none();
    }
    PendingPtr tell(int status, const std::string& text) const {
        http::make_reply(
            to, {}, status, "application/json", [](http::HeadBuffer&) {},
            [&](auto& sink) { sink << text; });
        return none();
    }

    [[nodiscard]] bool reads() const noexcept {
        return head.method == "GET" || head.method == "HEAD";
    }
    [[nodiscard]] Duration longest_ttl() const noexcept {
        return service.context.active->snapshot->permits->max_ttl;
    }

    PendingPtr list() const {
        const auto after = http::percent_decoded(http::parameter(head.query, "after").value_or(""));
        if (!after)
            return fail(400, "after is malformed");
        return tell(
            200, to_json(service.shared.locks.list(*after, net::read_clocks()), Ids::hidden));
    }

    PendingPtr show(const std::string& name) const {
        const auto found = service.shared.locks.state_of(name, net::read_clocks());
        if (!found) {
            make_no_lock(to, name, "there is no lock of this name, and nobody asks for one");
            return none();
        }
        return tell(200, to_json(*found, Ids::hidden));
    }

    // True if the connection is about to end, and with it a lease that is bound to it.
    [[nodiscard]] bool ends_at_once(locks::LeaseBinding binding) const noexcept {
        return binding == locks::LeaseBinding::connection && !owners.stays &&
               !service.context.draining;
    }

    [[nodiscard]] auto make() const {
        return service.lock_operations.make(
            service.context, service.shared, service.persistence_waits, owners);
    }

    PendingPtr acquire(const std::string& name) const {
        const auto binding = binding_of(head.query);
        if (!binding)
            return fail(400, "hold is not one of lease, connection and stream");
        if (ends_at_once(*binding))
            return fail(400, not_held);
        const auto ask = service.request_reader.read_lease(body, longest_ttl());
        if (!ask)
            return fail(400, ask.error());
        auto locking = make();
        if (*binding == locks::LeaseBinding::stream)
            owners.response.emplace(service.shared.locks, service.next_leases());
        else if (*binding == locks::LeaseBinding::connection)
            owners.request.emplace(owners.connection.requests());
        if (locking->begin(name, *ask, *binding) == LockOperation::Step::waits ||
            locking->streams())
            return as_base<DeferredReply>(std::move(locking));
        locking->respond(to);
        return none();
    }

    PendingPtr renew(const LockTarget& target) const {
        const auto binding = binding_of(head.query);
        if (!binding || *binding == locks::LeaseBinding::stream)
            return fail(400, "hold is neither lease nor connection");
        if (ends_at_once(*binding))
            return fail(400, not_held);
        const auto ttl = service.request_reader.read_renewal(body, longest_ttl());
        if (!ttl)
            return fail(400, ttl.error());
        auto locking = make();
        if (locking->renew(target.name, target.lease, *ttl, *binding) == LockOperation::Step::waits)
            return as_base<DeferredReply>(std::move(locking));
        locking->respond(to);
        return none();
    }

    PendingPtr release(const LockTarget& target) const {
        std::optional<std::uint32_t> level;
        if (const auto text = http::parameter(head.query, "count")) {
            std::uint32_t number = 0;
            const auto [end, error] =
                std::from_chars(text->data(), text->data() + text->size(), number);
            if (error != std::errc{} || end != text->data() + text->size() || number == 0)
                return fail(400, "count is not a number from 1");
            level = number;
        }
        const auto released =
            service.shared.locks.release(target.name, target.lease, level, net::read_clocks());
        switch (released.what) {
        case locks::LockManager::Release::gone:
            return fail(410, "this lease has ended, or never was: it is not released");
        case locks::LockManager::Release::inside:
            return tell(200, "{\"count\":" + std::to_string(released.grant.count) + "}\n");
        case locks::LockManager::Release::free:
            break;
        }
        owners.connection.remove(target.lease);
        http::make_no_content(to);
        return none();
    }
};

} // namespace

bool is_about_locks(std::string_view path) noexcept {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

PendingPtr answer_lock(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    LeaseOwners& owners,
    http::Response& to) {
    const LockCall call{service, head, body, owners, to};
    const auto target = lock_target_of(head.path);
    if (!target)
        return call.fail(target.error().status, target.error().detail);
    switch (target->what) {
    case LockTarget::What::locks:
        return call.reads() ? call.list() : call.not_allowed("GET, HEAD");
    case LockTarget::What::lock:
        return call.reads() ? call.show(target->name) : call.not_allowed("GET, HEAD");
    case LockTarget::What::leases:
        return head.method == "POST" ? call.acquire(target->name) : call.not_allowed("POST");
    case LockTarget::What::lease:
        break;
    }
    if (head.method == "PUT")
        return call.renew(*target);
    return head.method == "DELETE" ? call.release(*target) : call.not_allowed("PUT, DELETE");
}

} // namespace stint::permits
