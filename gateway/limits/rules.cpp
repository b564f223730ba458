#include "limits/rules.hpp"

namespace stint::limits {

const Rules& rules_of(Algorithm algorithm) noexcept {
    switch (algorithm) {
    case Algorithm::concurrency:
        return concurrency_rules;
    case Algorithm::sliding_window:
        return sliding_window_rules;
    case Algorithm::token_bucket:
        return token_bucket_rules;
    case Algorithm::fixed_window:
        break;
    }
    return fixed_window_rules;
}

} // namespace stint::limits
