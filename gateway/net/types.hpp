// The concrete Asio types that everything with a socket uses: no polymorphic executor, one socket
// type for TCP and Unix sockets.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

namespace stint::net {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
using Protocol = asio::generic::stream_protocol;
using Endpoint = Protocol::endpoint;
using Socket = asio::basic_stream_socket<Protocol, Executor>;
using Acceptor = asio::basic_socket_acceptor<Protocol, Executor>;

// A coroutine that runs only on the thread of the event loop that it was started on.
template <class T = void>
using Task = asio::awaitable<T, Executor>;

} // namespace stint::net
