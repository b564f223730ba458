// A read that waits first, for sockets that were just found to be empty.
#pragma once

#include "net/handler_memory.hpp"
#include "net/types.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/detail/reactive_socket_recv_op.hpp>

#include <span>
#include <utility>

namespace stint::net {

// A buffer type that selects the read operation at the end of this file. Asio's reactor tries each
// read before it waits for input; if no input can have come, that system call is wasted. Asio 1.26
// can also wait first and then read (async_wait()), but that costs two system calls.
class DeferredReadBuffer {
  public:
    using value_type = asio::mutable_buffer;
    using const_iterator = const asio::mutable_buffer*;

    DeferredReadBuffer(std::span<char> into, const HandlerMemory& memory) noexcept
        : into_{into.data(), into.size()}, memory_{&memory} {}

    [[nodiscard]] const_iterator begin() const noexcept { return &into_; }
    [[nodiscard]] const_iterator end() const noexcept { return &into_ + 1; }
    [[nodiscard]] bool starting() const noexcept { return memory_->starting; }

  private:
    asio::mutable_buffer into_;
    const HandlerMemory* memory_;
};

// Calls done(error, size) as a read does. Requires: the socket was seen to be empty, and to be
// open, within the same turn of the event loop. Input that comes later raises an event. The event
// of earlier input may have been taken already, so that this read would miss it.
template <class Done>
void read_deferred_then(Socket& socket, std::span<char> into, HandlerMemory& memory, Done done) {
    memory.starting = true;
    socket.async_read_some(DeferredReadBuffer{into, memory}, in_place(memory, std::move(done)));
    memory.starting = false;
}

} // namespace stint::net

// Asio's operation for a read into a DeferredReadBuffer: as in Boost 1.81, except that do_perform()
// does not read while the operation is being started.
template <>
class boost::asio::detail::reactive_socket_recv_op_base<stint::net::DeferredReadBuffer>
    : public reactor_op {
  public:
    reactive_socket_recv_op_base(
        const boost::system::error_code& success,
        socket_type socket,
        socket_ops::state_type,
        const stint::net::DeferredReadBuffer& buffer,
        socket_base::message_flags flags,
        func_type when_done)
        : reactor_op{success, &do_perform, when_done}, socket_{socket}, buffer_{buffer},
          flags_{flags} {}

    static status do_perform(reactor_op* base) {
        auto& self = *static_cast<reactive_socket_recv_op_base*>(base);
        if (self.buffer_.starting())
            return not_done;
        const asio::mutable_buffer& into = *self.buffer_.begin();
        const bool ended = socket_ops::non_blocking_recv1(
            self.socket_, into.data(), into.size(), self.flags_, true, self.ec_,
            self.bytes_transferred_);
        return !ended ? not_done : self.bytes_transferred_ == 0 ? done_and_exhausted : done;
    }

  private:
    socket_type socket_;
    stint::net::DeferredReadBuffer buffer_;
    socket_base::message_flags flags_;
};
