// One request's wait for the answer of counters that gateways share.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "limits/shared/shared_charges.hpp"
#include "net/clock.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"
#include "server/loop.hpp"

#include <optional>

namespace stint::proxy {

// Used on the thread of `loop`, which must outlive it.
class SharedWait final : public admission::SharedAnswerListener {
  public:
    explicit SharedWait(const server::Loop& loop) noexcept : loop_{loop} {}

    // True from shared_asked() to end().
    [[nodiscard]] bool is_begun() const noexcept { return wait_.has_value(); }
    void end() noexcept { wait_.reset(); }

    // Waits until the shared store has answered, or until give_up(). An answer that is overdue is
    // expired here, which counts as an answer.
    [[nodiscard]] net::Task<> until_answered() {
        while (!answered_ && !wait_->is_cancelled()) {
            const net::Wait::End end = co_await wait_->until(answer_by_);
            if (end == net::Wait::End::timed_out)
                (void)loop_.shared_charges->expire(net::read_clocks());
        }
    }
    // Ends the wait with a later turn of the event loop, answered or not. Requires: is_begun().
    void give_up() noexcept { wait_->cancel(); }

    void shared_asked(SteadyTime answer_by) override {
        wait_.emplace(loop_.executor);
        answer_by_ = answer_by;
        answered_ = false;
    }
    void shared_answered() noexcept override {
        answered_ = true;
        wait_->wake();
    }

  private:
    const server::Loop& loop_;
    std::optional<net::Wait> wait_;
    SteadyTime answer_by_{};
    bool answered_ = false;
};

} // namespace stint::proxy
