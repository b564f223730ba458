// Detects certificate files that are replaced while the gateway serves traffic.
#pragma once

#include "runtime/file_stamps.hpp"
#include "tls/ticket_keys.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace stint::runtime {

// Checks every second whether the TLS files have changed, and rotates the TLS session-ticket keys.
// Used by the control thread alone.
class CertificateWatcher {
  public:
    // reload: called after watched files have changed. It reads the files again and returns true if
    // the new contents are now in use.
    CertificateWatcher(
        boost::asio::io_context& control,
        std::shared_ptr<tls::TicketKeys> keys,
        std::function<bool()> reload);

    void start();
    // Stops the timer for good: start() has no effect afterwards.
    void stop();
    // Sets the files to watch, by the stamps of the contents that are in use.
    void use(FileStamps stamps) { files_.use(std::move(stamps)); }
    // Leaves it to the caller to detect changes of the files, or no longer.
    void leave_files(bool left) noexcept { left_ = left; }
    // Reads the files again, and counts that.
    void read_again();

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
    bool left_ = false;
    bool stopped_ = false;
};

} // namespace stint::runtime
