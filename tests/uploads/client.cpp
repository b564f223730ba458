#include "client.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace stint::uploads {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto patience = 60s;

std::string field(std::string_view head, std::string_view name) {
    const std::size_t at = head.find("\r\n" + std::string{name} + ": ");
    if (at == std::string_view::npos)
        return {};
    const std::size_t begin = at + name.size() + 4;
    return std::string{head.substr(begin, head.find("\r\n", begin) - begin)};
}

} // namespace

void Client::upload(std::uint64_t id) {
    const Upload upload = make_upload(ledger_.seed, id);
    Dice dice{ledger_.seed, 4, id};
    if (!be_connected())
        return ledger_.report(Wrong::no_answer, path_of(upload) + ": no connection to Stint");
    to_send_ = head_of(upload, ledger_.head_growth) + framed_body(upload, body_of(upload));
    sent_ = piece_ = 0;
    answer_ = {};
    ended_ = false;
    const bool leaves = id > 1 && dice.percent(4);
    const std::size_t most = leaves ? dice.below(to_send_.size()) : to_send_.size();
    if (!send_and_listen(dice, most)) {
        end_.close(); // in the middle, as some clients do
        return;
    }
    judge(upload);
    former_ = path_of(upload) + ", which was answered " + std::to_string(answer_.status);
    const bool goes_on = answer_.complete && !answer_.closes && !ended_;
    if (!goes_on || (sent_ < to_send_.size() && (dice.percent(50) || !send_rest())))
        end_.close();
}

bool Client::be_connected() {
    if (end_.open()) {
        char byte = 0;
        const std::ptrdiff_t got = received_.empty() ? end_.read(&byte, 1) : 1;
        if (got == End::not_now)
            return true;
        if (got > 0)
            ledger_.report(Wrong::unasked, received_ + byte);
        end_.close();
    }
    received_.clear();
    former_.clear();
    end_ = End::connect(port_, tls_);
    return end_.open() && end_.shake_hands(30'000);
}

// Up to `most` bytes, or until the answer is there. False: the client leaves.
bool Client::send_and_listen(Dice& dice, std::size_t most) {
    const bool hesitates = dice.percent(20);
    bool writable = true;
    const auto end = Clock::now() + patience;
    while (!answer_.complete && !ended_ && Clock::now() < end) {
        if (sent_ == most && most < to_send_.size())
            return false;
        if (writable && sent_ < most) {
            if (piece_ == 0) // else TLS wants the same once more
                piece_ = std::min(hesitates ? 1 + dice.below(20'000) : 65536, most - sent_);
            const std::ptrdiff_t done =
                end_.write(std::string_view{to_send_}.substr(sent_, piece_));
            if (done > 0) {
                sent_ += static_cast<std::size_t>(done);
                piece_ = 0;
            }
            writable = done > 0;
            if (done == End::broken)
                most = to_send_.size() + 1; // nothing more is sent; the answer may be there
            if (hesitates && dice.percent(30))
                std::this_thread::sleep_for(std::chrono::microseconds{dice.below(2000)});
        }
        if (!writable || sent_ >= most)
            writable = end_.wait(100, sent_ < most && most <= to_send_.size());
        take_answer();
    }
    return true;
}

bool Client::send_rest() {
    const auto end = Clock::now() + 5s;
    while (sent_ < to_send_.size() && Clock::now() < end) {
        const std::ptrdiff_t done = end_.write(std::string_view{to_send_}.substr(sent_));
        if (done == End::broken)
            return false;
        sent_ += done > 0 ? static_cast<std::size_t>(done) : 0;
        if (done == End::not_now)
            (void)end_.wait(10, true);
    }
    return sent_ == to_send_.size();
}

void Client::take_answer() {
    char bytes[4096];
    for (;;) {
        const std::ptrdiff_t got = end_.read(bytes, sizeof bytes);
        if (got == End::not_now)
            break;
        if (got <= 0) {
            ended_ = true;
            break;
        }
        received_.append(bytes, static_cast<std::size_t>(got));
    }
    const std::size_t end = received_.find("\r\n\r\n");
    if (end == std::string::npos)
        return;
    const std::string head = received_.substr(0, end + 2);
    const std::string length = field(head, "Content-Length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    if (received_.size() < end + 4 + size)
        return;
    received_.erase(0, end + 4 + size);
    answer_.complete = true;
    answer_.status = head.size() > 12 ? std::atoi(head.c_str() + 9) : 0;
    answer_.upload = field(head, "X-Upload");
    answer_.closes = field(head, "Connection") == "close";
}

void Client::judge(const Upload& upload) {
    const std::string of = std::string{upload.method} + " " + path_of(upload) + " (" +
                           std::to_string(sent_) + " of " + std::to_string(to_send_.size()) +
                           " bytes sent): ";
    ledger_.note_status(answer_.status);
    if (!answer_.complete) {
        // A server may close a connection between requests, and cannot know that one is on its way.
        if (ended_ && received_.empty() && !former_.empty() && !ledger_.was_taken(upload.id))
            return;
        return ledger_.report(
            Wrong::no_answer, of + (ended_ ? "closed" : "silence") +
                                  (former_.empty() ? "" : ", on the connection of " + former_));
    }
    const std::string status = std::to_string(answer_.status);
    if (answer_.upload == number_of(upload.id))
        return;
    if (!answer_.upload.empty() || answer_.status == 403)
        return ledger_.report(Wrong::answer, of + status + " of \"" + answer_.upload + "\"");
    if (ledger_.answer_promised(upload.id))
        return ledger_.report(Wrong::lost_answer, of + status + ", but the upstream has answered");
    // A pause may begin while it is being sent; then it is not sent again.
    if (answer_.status != 502 && !(answer_.status == 503 && upload.route == "/wait/"))
        ledger_.report(Wrong::bad_status, of + status);
}

} // namespace stint::uploads
