// A function to be called by a loop, from any thread.
#pragma once

#include "net/types.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::net {

// False: there is no memory to remember it.
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
