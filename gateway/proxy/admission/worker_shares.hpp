// Resumes the requests of one worker that wait for larger shares of limits, when the stores have
// answered.
#pragma once

#include "limits/shared/share_requests.hpp"
#include "net/types.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::proxy {

// One per worker. Takes the stores' answers from their threads to the worker's.
class WorkerShares final : public limits::ShareRequests {
  public:
    explicit WorkerShares(net::Executor executor) noexcept : executor_{std::move(executor)} {}

  private:
    void notify() noexcept override {
        try {
            net::asio::post(executor_, [this] { deliver(); });
        } catch (const std::exception&) {
            // Out of memory: the next tick delivers the answers.
        }
    }

    const net::Executor executor_;
};

} // namespace stint::proxy
