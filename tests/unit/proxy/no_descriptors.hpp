#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace stint::test {

// The process may open nothing until this ends.
class NoDescriptors {
  public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &usual_);
        const int lowest_free = ::open("/dev/null", O_RDONLY);
        ::close(lowest_free);
        rlimit none = usual_;
        none.rlim_cur = static_cast<rlim_t>(lowest_free);
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &usual_); }

  private:
    rlimit usual_{};
};

} // namespace stint::test
