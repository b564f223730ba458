// Records a request's keys, for /limits/NAME/top and for /explain.
#pragma once

#include "base/time.hpp"
#include "proxy/context.hpp"
#include "proxy/recent_requests.hpp"
#include "routing/charges.hpp"

namespace stint::proxy {

// Records keys for the request that RecentRequests::begin() was called for last.
class KeyRecorder final : public routing::KeyObserver {
  public:
    KeyRecorder(const ActiveConfig& config, RecentRequests& recent, SteadyTime now) noexcept
        : config_{config}, recent_{recent}, now_{now} {}

    bool concerns(const routing::RouteLimit&, const routing::Key&) noexcept override {
        return true;
    }
    void counts(const routing::RouteLimit& limit, const routing::Key& key) noexcept override {
        config_.heavy_hitters[limit.index]->add(key.hash, key.text, now_);
        recent_.add_key(limit.refusal_metric, key.hash, key.text);
    }

  private:
    const ActiveConfig& config_;
    RecentRequests& recent_;
    const SteadyTime now_;
};

} // namespace stint::proxy
