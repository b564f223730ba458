#include "admin/reload.hpp"

namespace stint::admin {

Response reload_response(const runtime::ReloadReport& report, std::uint64_t generation) {
    if (report.applied)
        return json_response(
            Json{{"applied", true}, {"generation", generation}, {"notes", report.notes}});
    return problem(
        422, "The configuration was not reloaded; the former one stays in force.",
        Json{{"applied", false}, {"generation", generation}, {"errors", report.errors}});
}

Response reload(runtime::Gateway& gateway) {
    if (!gateway.ready())
        return problem(503, "The gateway is stopping; nothing is changed any more.");
    const runtime::ReloadReport report = gateway.reload();
    return reload_response(report, gateway.compiled().snapshot->generation);
}

} // namespace stint::admin
