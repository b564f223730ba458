// Detects certificates that are replaced while traffic flows.
#pragma once

#include "runtime/file_stamps.hpp"
#include "tls/ticket_keys.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace stint::runtime {

// Looks at the TLS files every second, and rotates the keys of session tickets. Used by the control
// thread alone.
class CertificateWatcher {
  public:
    // reload: called after the files have changed; reads them again, and returns true if they are
    // in use now.
    CertificateWatcher(
        boost::asio::io_context& control,
        std::shared_ptr<tls::TicketKeys> keys,
        std::function<bool()> reload);

    void start();
    // Ends for good.
    void stop();
    // Sets the stamps of the files in use.
    void use(FileStamps stamps) { files_.use(std::move(stamps)); }

    [[nodiscard]] std::uint64_t reloads() const noexcept { return reloads_; }
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

  private:
    void look();

    boost::asio::steady_timer timer_;
    const std::shared_ptr<tls::TicketKeys> keys_;
    const std::function<bool()> reload_;
    ChangedFiles files_;
    std::uint64_t reloads_ = 0;
    std::uint64_t failures_ = 0;
    bool stopped_ = false;
};

} // namespace stint::runtime
