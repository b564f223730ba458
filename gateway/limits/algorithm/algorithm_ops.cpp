#include "limits/algorithm/algorithm_ops.hpp"

namespace stint::limits {

const AlgorithmOps& ops_of(Algorithm algorithm) noexcept {
    switch (algorithm) {
    case Algorithm::concurrency:
        return concurrency_ops;
    case Algorithm::sliding_window:
        return sliding_window_ops;
    case Algorithm::token_bucket:
        return token_bucket_ops;
    case Algorithm::fixed_window:
        break;
    }
    return fixed_window_ops;
}

} // namespace stint::limits
