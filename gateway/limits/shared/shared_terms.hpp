// The configuration of a limit that gateways share.
#pragma once

#include "base/time.hpp"
#include "limits/shared/on_store_failure.hpp"
#include "limits/shared/share_source.hpp"

#include <chrono>
#include <memory>

namespace stint::limits {

struct SharedTerms {
    std::shared_ptr<ShareSource> store{}; // not null
    OnStoreFailure on_failure = OnStoreFailure::share;
    Duration timeout = std::chrono::milliseconds{20}; // longest wait for the store's answer
};

} // namespace stint::limits
