#include "runtime/certificate_watcher.hpp"

#include "base/error.hpp"
#include "net/clock.hpp"

#include <chrono>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 1s;

} // namespace

CertificateWatcher::CertificateWatcher(
    boost::asio::io_context& control,
    std::shared_ptr<tls::TicketKeys> keys,
    std::function<bool()> reload)
    : timer_{control}, keys_{std::move(keys)}, reload_{std::move(reload)} {}

void CertificateWatcher::start() {
    timer_.expires_after(look_every);
    timer_.async_wait([this](const ErrorCode& error) {
        if (error || stopped_)
            return;
        look();
        start();
    });
}

void CertificateWatcher::look() {
    keys_->rotate(net::read_steady_clock());
    if (!left_ && files_.look())
        read_again();
}

void CertificateWatcher::read_again() {
    ++(reload_() ? reloads_ : failures_);
}

void CertificateWatcher::stop() {
    stopped_ = true;
    timer_.cancel();
}

} // namespace stint::runtime
