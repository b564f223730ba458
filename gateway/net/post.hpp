// Posts a function to an event loop, from any thread.
#pragma once

#include "net/types.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::net {

// Posts the function. Returns false, without posting, if there is no memory.
template <class Function>
[[nodiscard]] bool post(const Executor& executor, Function function) noexcept {
    try {
        boost::asio::post(executor, std::move(function));
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace stint::net
