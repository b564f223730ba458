// The retry rules of a route: which failed requests are sent again.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::routing {

struct RetryRules {
    std::uint32_t attempts = 0; // the most times that one request is sent; 0: no retries
    bool on_connect = false;    // connecting failed, TLS included
    bool on_reset = false;      // the connection ended before the response's head arrived
    std::bitset<100> statuses;  // response statuses to retry; bit i = status 500 + i
    std::vector<std::string> methods;
    std::uint32_t budget = 0; // retries may add this percentage of the requests

    [[nodiscard]] bool any() const noexcept { return attempts > 0; }
    void add_status(int status) { statuses.set(static_cast<std::size_t>(status - 500)); }
    [[nodiscard]] bool on_status(int status) const noexcept {
        return status >= 500 && status <= 599 && statuses[static_cast<std::size_t>(status - 500)];
    }
    [[nodiscard]] bool on_method(std::string_view method) const noexcept {
        return std::ranges::find(methods, method) != methods.end();
    }
};

} // namespace stint::routing
