// One request's wait, in its coroutine, for larger shares: the parts of shared limits that this
// gateway may use without asking their stores.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"

#include <optional>

namespace stint::proxy {

// Used on the thread of the executor.
class ShareWakeup final : public admission::ShareAnswerListener {
  public:
    explicit ShareWakeup(const net::Executor& executor) noexcept : executor_{executor} {}

    // True from shares_asked() to end().
    [[nodiscard]] bool is_begun() const noexcept { return wait_.has_value(); }
    void end() noexcept { wait_.reset(); }

    // Waits until the stores have answered, their time is over, or give_up().
    [[nodiscard]] net::Task<> until_answered() {
        while (!answered_ && !wait_->is_cancelled()) {
            const net::Wait::End end = co_await wait_->until(answer_by_);
            if (end == net::Wait::End::timed_out)
                answered_ = true;
        }
    }
    // Ends the wait with a later turn of the event loop, answered or not. Requires: is_begun().
    void give_up() noexcept { wait_->cancel(); }

    void shares_asked(SteadyTime answer_by) override {
        wait_.emplace(executor_);
        answer_by_ = answer_by;
        answered_ = false;
    }
    void shares_answered() noexcept override {
        answered_ = true;
        if (wait_)
            wait_->wake();
    }

  private:
    const net::Executor executor_;
    std::optional<net::Wait> wait_;
    SteadyTime answer_by_{};
    bool answered_ = false;
};

} // namespace stint::proxy
