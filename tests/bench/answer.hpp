// One answer with a Content-Length, read piece by piece as it comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::bench {

class Answer {
  public:
    void begin();

    // False: this is no answer with a Content-Length, or goes on after its end.
    [[nodiscard]] bool take(std::string_view bytes);

    [[nodiscard]] bool complete() const noexcept { return has_head_ && body_ == length_; }
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] std::uint64_t body() const noexcept { return body_; }
    // Whether the server closes the connection after it.
    [[nodiscard]] bool closes() const noexcept { return closes_; }
    // Whether its body is that of the origin (see body.hpp), where it is a 200.
    [[nodiscard]] bool intact() const noexcept { return intact_; }

  private:
    [[nodiscard]] bool read_head();

    std::string head_;
    int status_ = 0;
    std::uint64_t length_ = 0;
    std::uint64_t body_ = 0;
    bool has_head_ = false;
    bool closes_ = false;
    bool intact_ = true;
};

} // namespace stint::bench
