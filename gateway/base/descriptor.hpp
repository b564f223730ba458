// A file descriptor that is closed with the object that owns it.
#pragma once

#include <unistd.h>
#include <utility>

namespace stint {

class Descriptor {
  public:
    Descriptor() = default;
    // Takes ownership of fd. A negative fd means no descriptor.
    explicit Descriptor(int fd) noexcept : fd_{fd} {}
    Descriptor(Descriptor&& other) noexcept : fd_{other.release()} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }
    // Gives up ownership: the caller has to close the returned descriptor.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

} // namespace stint
