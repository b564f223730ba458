// The texts and the last requests of a limit's keys, as the workers remember them.
#pragma once

#include "base/hash.hpp"
#include "limits/limit.hpp"
#include "net/types.hpp"
#include "proxy/recent_requests.hpp"
#include "runtime/gateway.hpp"

#include <map>
#include <string>
#include <vector>

namespace stint::admin {

struct KeyText {
    std::string text;
    bool cut = false; // `text` is only the beginning of the key
};

struct KnownKeys {
    std::map<Hash128, KeyText> texts;
    std::vector<proxy::RecentRequests::Record> requests; // the newest of each worker first
};

// Returns what is known of these keys of the limit: the texts of those that are among the heaviest,
// and the remembered requests with any of the keys. keys: sorted. Waits for the workers.
[[nodiscard]] net::Task<KnownKeys>
known_keys(runtime::Gateway& gateway, limits::LimitPtr limit, std::vector<Hash128> keys);

} // namespace stint::admin
