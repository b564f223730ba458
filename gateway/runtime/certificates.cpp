// Certificates that are replaced while traffic flows.
#include "net/clock.hpp"
#include "runtime/gateway.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 1s;

} // namespace

void Gateway::use(TlsObjects objects, const config::Config& config) {
    for (const std::string& warning : objects.warnings)
        spdlog::warn("{}", warning);
    for (const config::Upstream& upstream : config.upstreams)
        if (objects.upstream(upstream.name) && !upstream.tls.verify)
            spdlog::warn(
                "upstream {}: verify is false: anybody on the way can read and change what is sent",
                upstream.name);
    certificate_files_.use(objects.files());
    tls_ = std::move(objects);
}

void Gateway::watch_certificates() {
    certificate_timer_.expires_after(look_every);
    certificate_timer_.async_wait([this](const ErrorCode& error) {
        if (error || stopping_)
            return;
        ticket_keys_->rotate(net::read_steady_clock());
        if (certificate_files_.look())
            reload_certificates();
        watch_certificates();
    });
}

void Gateway::reload_certificates() {
    auto objects = load_tls(config_, file_, tls_, ticket_keys_);
    if (!objects) {
        ++certificate_reload_failures_;
        spdlog::error("certificates have changed and cannot be used, the former ones stay");
        for (const config::ConfigError& mistake : objects.error())
            spdlog::error("{}", mistake.text());
        return;
    }
    ++certificate_reloads_;
    use(std::move(*objects), config_);
    apply(
        config_, compile(config_, registry_, slots_, generation_, overrides_, tls_, &endpoints_),
        {});
    spdlog::info("certificates have changed and were read again");
}

void Gateway::add_certificates(observe::ProcessFigures& figures) const {
    figures.certificate_reloads = certificate_reloads_;
    figures.certificate_reload_failures = certificate_reload_failures_;
    for (const auto& [file, at] : tls_.expiries())
        figures.certificates.push_back(
            {file, std::chrono::duration<double>(at.time_since_epoch()).count()});
}

} // namespace stint::runtime
