#include "admin/version.hpp"

#include "base/version.hpp"
#include "observe/json_line.hpp"

#include <boost/version.hpp>

#include <algorithm>
#include <chrono>
#include <string>

namespace stint::admin {
namespace {

std::string boost_version() {
    return std::to_string(BOOST_VERSION / 100'000) + '.' +
           std::to_string(BOOST_VERSION / 100 % 1'000) + '.' + std::to_string(BOOST_VERSION % 100);
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

} // namespace

Json version_json(runtime::Gateway& gateway) {
    std::string started_at;
    observe::append_rfc3339(started_at, gateway.started_at());
    const auto uptime =
        std::chrono::floor<std::chrono::milliseconds>(gateway.now().wall - gateway.started_at());
    return {
        {"version", version},
        {"compiler", compiler()},
        {"boost", boost_version()},
        {"started_at", started_at},
        {"uptime_ms", std::max<std::int64_t>(uptime.count(), 0)},
        {"workers", gateway.pool().size()},
        {"listening", gateway.listening()},
        {"config_file", gateway.store().file().string()},
        {"config_generation", gateway.compiled().snapshot->generation}};
}

} // namespace stint::admin
