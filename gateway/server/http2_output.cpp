#include "server/http2_output.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stint::server {
namespace {

// More is not gathered: a socket that takes nothing leaves all of it to be kept.
constexpr std::size_t most_gathered = 64 * 1024;

} // namespace

void Http2Output::begin(net::Stream& io, std::span<char> scratch) noexcept {
    io_ = &io;
    scratch_ = scratch;
    run_ = used_ = 0;
    gather_.clear();
}

// Adds the copies since the last piece to the gathered pieces.
void Http2Output::close_run() noexcept {
    gather_.add({scratch_.data() + run_, used_ - run_});
    run_ = used_;
}

// Sends what was gathered if there is no room for so many bytes more.
void Http2Output::make_room(std::size_t bytes) {
    if (gather_.bytes() + used_ - run_ + bytes > most_gathered)
        send();
}

void Http2Output::add_copy(std::string_view bytes) {
    make_room(bytes.size());
    while (!bytes.empty()) {
        if (used_ == scratch_.size())
            send();
        const std::size_t part = std::min(bytes.size(), scratch_.size() - used_);
        bytes.copy(scratch_.data() + used_, part);
        used_ += part;
        bytes.remove_prefix(part);
    }
}

void Http2Output::add_in_place(std::string_view bytes) {
    if (bytes.empty())
        return;
    make_room(bytes.size());
    if (gather_.pieces().size() + 3 > net::max_pieces) // these bytes, and copies on both sides
        send();
    close_run();
    gather_.add(bytes);
}

void Http2Output::send() {
    close_run();
    const std::size_t all = gather_.bytes();
    if (!error_ && kept_.empty())
        error_ = net::write_now(*io_, gather_);
    sent_ += all - gather_.bytes();
    if (!error_ && !gather_.empty()) {
        std::string left{kept_.view()};
        gather_.append_to(left);
        kept_.assign(std::move(left));
    }
    gather_.clear();
    run_ = used_ = 0;
}

void Http2Output::finish() {
    send();
    io_ = nullptr;
}

void Http2Output::send_kept(net::Stream& io) noexcept {
    net::Gather gather;
    gather.add(kept_.view());
    const std::size_t all = gather.bytes();
    if (!error_)
        error_ = net::write_now(io, gather);
    sent_ += all - gather.bytes();
    kept_.leave(gather.bytes());
    kept_.shrink(kept_.empty() ? 0 : static_cast<std::size_t>(-1));
}

} // namespace stint::server
