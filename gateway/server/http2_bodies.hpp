// The bodies of one HTTP/2 stream, as far as they are held in memory: the request's, until it is
// read, and the response's, until it is sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stint::server {

// The body of a request. What has come with the head is apart, and stays in place. The stream's
// window bounds its size. Not thread-safe; does no I/O.
class Http2RequestBody {
  public:
    void begin() noexcept {
        first_.clear();
        more_.clear();
        taken_ = 0;
        dispatched_ = ended_ = false;
    }
    void append(std::span<const char> bytes) {
        if (taken_ > more_.size() / 2) {
            more_.erase(0, taken_);
            taken_ = 0;
        }
        (dispatched_ ? more_ : first_).append(bytes.data(), bytes.size());
    }
    void end() noexcept { ended_ = true; }
    // From now on what comes is no longer part of first().
    void dispatch() noexcept { dispatched_ = true; }

    [[nodiscard]] std::string_view first() const noexcept { return first_; }
    void drop_first() noexcept { std::string{}.swap(first_); }
    // True if the client has sent the whole body.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // Number of bytes that take() would move.
    [[nodiscard]] std::size_t size() const noexcept { return more_.size() - taken_; }
    // Moves bytes behind first() to `into`. Returns their number.
    [[nodiscard]] std::size_t take(std::span<char> into) noexcept {
        const std::size_t size = std::min(this->size(), into.size());
        std::copy_n(more_.data() + taken_, size, into.data());
        taken_ += size;
        if (taken_ == more_.size()) {
            more_.clear();
            taken_ = 0;
        }
        return size;
    }
    // Forgets all bytes, and frees their memory.
    void release() noexcept {
        begin();
        if (more_.capacity() > 0)
            std::string{}.swap(more_);
    }

  private:
    std::string first_;
    std::string more_;
    std::size_t taken_ = 0; // bytes at the front of more_ that were read
    bool dispatched_ = false;
    bool ended_ = false;
};

// The part of a response's body that was not sent: copies first, then bytes in place. Not
// thread-safe; does no I/O.
class Http2ResponseBody {
  public:
    void begin() noexcept {
        copies_.clear();
        in_place_ = {};
        trailer_.clear();
        sent_ = 0;
        last_ = done_ = taken_ = unwanted_ = told_ = false;
    }
    // Forgets all bytes, and frees memory of more than `most` bytes.
    void release(std::size_t most) noexcept {
        begin();
        if (copies_.capacity() > most)
            std::string{}.swap(copies_);
    }
    // Adds bytes that stay in place until they are sent, or keep() is called. Requires that none
    // are in place.
    void add_in_place(std::string_view bytes) noexcept { in_place_ = bytes; }
    // Copies the bytes in place. What take() has returned must have been sent, or copied.
    void keep() {
        if (in_place_.empty())
            return;
        if (sent_ == copies_.size()) {
            copies_.clear();
            sent_ = 0;
        }
        copies_.append(std::exchange(in_place_, {}));
    }
    // No more bytes are added. trailer: lines of the trailer, each with CRLF; may be empty.
    void end(std::string trailer) noexcept {
        trailer_ = std::move(trailer);
        last_ = true;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return copies_.size() - sent_ + in_place_.size();
    }
    [[nodiscard]] bool is_in_place() const noexcept { return !in_place_.empty(); }
    [[nodiscard]] bool last() const noexcept { return last_; }
    [[nodiscard]] const std::string& trailer() const noexcept { return trailer_; }
    // Takes the next `size` bytes as at most two pieces. These stay in place until keep(), also
    // over further calls of this function.
    [[nodiscard]] std::pair<std::string_view, std::string_view> take(std::size_t size) noexcept {
        const std::string_view copies = std::string_view{copies_}.substr(sent_, size);
        sent_ += copies.size();
        const std::string_view rest = in_place_.substr(0, size - copies.size());
        in_place_.remove_prefix(rest.size());
        taken_ = true;
        return {copies, rest};
    }
    // True if all bytes so far were taken, and there were some; or all of the response.
    [[nodiscard]] bool all_taken() const noexcept { return done_ || (taken_ && size() == 0); }
    // Noted when the client has reset the stream.
    void set_unwanted() noexcept { unwanted_ = true; }
    [[nodiscard]] bool unwanted() const noexcept { return unwanted_; }
    // Noted when the session was told what has become of the response.
    void set_told() noexcept { told_ = true; }
    [[nodiscard]] bool told() const noexcept { return told_; }
    // Noted when the end of the response was given to the connection.
    void set_done() noexcept { done_ = true; }
    [[nodiscard]] bool done() const noexcept { return done_; }

  private:
    std::string copies_;
    std::size_t sent_ = 0; // bytes of copies_ that were sent
    std::string_view in_place_;
    std::string trailer_;
    bool last_ = false;
    bool done_ = false;
    bool taken_ = false;
    bool unwanted_ = false;
    bool told_ = false;
};

} // namespace stint::server
