#include "runtime/check_warnings.hpp"

#include <cstddef>
#include <string_view>

namespace stint::runtime {
namespace {

// Empty where it is charged.
std::string_view why_not(const config::Limit& limit) {
    if (limit.lock)
        return "is a lock, whose slot the request's end frees";
    if (limit.kind == config::Limit::Kind::cap)
        return "is a cap, whose slot the request's end frees";
    if (!limit.cost_response_field.empty())
        return "learns its cost from the answer";
    if (!limit.count_when.empty() || !limit.refund.empty())
        return "counts by the answer's status";
    return {};
}

} // namespace

std::vector<std::string> check_warnings(const config::Config& config) {
    std::vector<std::string> notes;
    if (!config.permits)
        return notes;
    for (const config::Route& route : config.routes) {
        if (route.require_fence)
            notes.push_back(
                "the route " + route.name +
                ": /v1/check does not look at the X-Stint-Fence that require_fence asks for");
        for (const std::size_t index : route.limits) {
            const config::Limit& limit = config.limits[index];
            if (const std::string_view why = why_not(limit); !why.empty())
                notes.push_back(
                    "the route " + route.name + ": /v1/check does not charge the limit " +
                    limit.name + ", which " + std::string{why});
        }
    }
    return notes;
}

} // namespace stint::runtime
