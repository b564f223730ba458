#include "admin/locks.hpp"

#include "http/query.hpp"
#include "permits/lock_json.hpp"

#include <utility>

namespace stint::admin {

using permits::Ids;

Response all_locks(runtime::Gateway& gateway, std::string_view query) {
    const auto after = http::percent_decoded(http::parameter(query, "after").value_or(""));
    if (!after)
        return problem(400, "\"after\" has a malformed percent-escape.");
    return {
        200, "application/json",
        permits::to_json(gateway.locks().list(*after, gateway.now()), Ids::shown)};
}

Response one_lock(runtime::Gateway& gateway, std::string_view name) {
    const auto found = gateway.locks().state_of(name, gateway.now());
    if (!found)
        return problem(404, "There is no lock of this name, and nobody asks for one.");
    return {200, "application/json", permits::to_json(*found, Ids::shown)};
}

Response end_lease(
    runtime::Gateway& gateway,
    std::string_view lock,
    std::string_view lease,
    const runtime::Attribution& by) {
    if (!gateway.changes().end_lease(lock, lease, by))
        return problem(404, "There is no such lease; it may have ended by itself.");
    return {204, {}, {}};
}

} // namespace stint::admin
