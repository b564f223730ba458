// Expected failures are values: Result<T> holds a T or an error_code.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace stint {

using ErrorCode = boost::system::error_code;

template <class T, class E = ErrorCode>
using Result = boost::system::result<T, E>;

} // namespace stint
