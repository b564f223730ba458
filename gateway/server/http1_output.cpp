#include "server/http1_output.hpp"

#include "server/request_handler.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace stint::server {

Sent Http1Output::send_copied(net::Stream& io, net::Gather& gather) {
    if (net::write_now(io, gather))
        return Sent::gone;
    if (gather.empty() && copied_.empty()) [[likely]]
        return Sent::all;
    std::string left;
    gather.append_to(left);
    copied_.assign(std::move(left));
    return copied_.empty() ? Sent::all : Sent::part;
}

Sent Http1Output::send_in_place(net::Stream& io, net::Gather& gather) {
    if (net::write_now(io, gather))
        return Sent::gone;
    if (gather.empty()) [[likely]] {
        copied_.clear();
        return Sent::all;
    }
    in_place_ = gather;
    return Sent::part;
}

Sent Http1Output::send_kept(net::Stream& io) {
    if (!in_place_.empty()) {
        if (net::write_now(io, in_place_))
            return Sent::gone;
        if (!in_place_.empty())
            return Sent::part;
    } else if (!copied_.empty()) {
        net::Gather gather = begin();
        if (net::write_now(io, gather))
            return Sent::gone;
        copied_.leave(gather.bytes());
        if (!gather.empty())
            return Sent::part;
    }
    in_place_ = {};
    copied_.clear();
    return Sent::all;
}

void Http1Output::release() noexcept {
    constexpr std::size_t most_kept = 16 * 1024;
    copied_.clear();
    copied_.shrink(most_kept);
    if (!in_place_.empty()) [[unlikely]]
        in_place_ = {};
}

Sent note_sent(const ConnectionInfo& connection, Sent sent) noexcept {
    if (sent == Sent::all && connection.session != nullptr)
        connection.session->on_sent(0);
    return sent;
}

} // namespace stint::server
