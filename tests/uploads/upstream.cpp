#include "upstream.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace stint::uploads {
namespace {

using namespace std::chrono_literals;

constexpr int patience = 30'000; // milliseconds, for what comes at once

struct Share {
    Fault fault;
    unsigned percent;
};
constexpr Share between_requests[] = {
    {Fault::close_idle, 8}, {Fault::reset_idle, 10}, {Fault::reset_crossing, 25}};
constexpr Share within_requests[] = {
    {Fault::reset_inside, 10}, {Fault::close_inside, 4}, {Fault::reset_later, 8},
    {Fault::early_hold, 5},    {Fault::early_read, 5},   {Fault::early_good, 5},
    {Fault::early_reset, 4},   {Fault::busy, 20},        {Fault::stall, 4},
    {Fault::slow, 4},          {Fault::close_told, 4}};

template <std::size_t size>
Fault pick(const Share (&shares)[size], Dice& dice) {
    std::uint64_t point = dice.below(100);
    for (const Share& share : shares) {
        if (point < share.percent)
            return share.fault;
        point -= share.percent;
    }
    return Fault::none;
}

void rest(std::uint64_t microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds{microseconds});
}

} // namespace

void Upstream::run() {
    while (!ledger_.stopping) {
        accept_for(refuses_ ? 90 : 200);
        if (!refuses_)
            continue;
        listener_.close();
        ledger_.note(Fault::refused);
        rest(25'000);
        listener_.open();
    }
    listener_.close();
    while (open_ > 0)
        rest(1000);
}

void Upstream::accept_for(int milliseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    while (std::chrono::steady_clock::now() < end) {
        End made = listener_.accept(10);
        if (!made.open())
            continue;
        ++open_;
        std::thread{[this, number = accepted_++, end_made = std::move(made)]() mutable {
            Served{ledger_, std::move(end_made), number}.run();
            --open_;
        }}.detach();
    }
}

void Served::run() {
    if (dice_.percent(40))
        rest(dice_.below(30'000)); // a pause may begin while Stint connects
    bool more = end_.shake_hands(patience);
    for (bool first = true; more; first = false)
        more = (first || pass_idle_time()) && read_next_head() && serve_request();
    reader_.abandon();
}

// After an answer, before the next request.
bool Served::pass_idle_time() {
    const Fault fault = pick(between_requests, dice_);
    if (fault == Fault::none)
        return true;
    if (fault != Fault::reset_crossing) {
        rest(dice_.below(3000));
        if (end_.unread() > 0)
            return true;
        leave(fault, fault == Fault::reset_idle);
        return false;
    }
    if (!read_some(1 + dice_.below(6000), patience))
        return false;
    while (reader_.at() != Reader::At::whole && end_.unread() > 0 && read_some(65536, 0)) {
    }
    if (reader_.at() == Reader::At::whole)
        return true;
    note_blocked();
    leave(fault, true);
    return false;
}

bool Served::read_next_head() {
    using At = Reader::At;
    while (reader_.at() == At::idle || reader_.at() == At::head)
        if (!read_some(65536, patience))
            return false;
    if (reader_.at() == At::lost)
        end_.reset();
    return reader_.at() != At::lost;
}

bool Served::serve_request() {
    if (reader_.forged())
        return finish_request(true);
    const Upload& upload = reader_.upload();
    Dice dice{ledger_.seed, 2, upload.id * 16 + reader_.times_before()};
    const Fault fault = pick(within_requests, dice);
    const std::size_t reach = dice.percent(60) ? 12'000 : upload.size;
    const std::size_t until = dice.below(std::min(reach, upload.size));
    switch (fault) {
    case Fault::reset_inside:
    case Fault::close_inside:
    case Fault::reset_later:
        return break_off(fault, until);
    case Fault::early_hold:
    case Fault::early_read:
    case Fault::early_good:
    case Fault::early_reset:
        return serve_early(fault, until);
    case Fault::busy:
        if (upload.route == "/wait/")
            return serve_early(fault, until);
        break;
    case Fault::stall:
        if (!read_body(until))
            return false;
        rest(20'000 + dice.below(150'000));
        ledger_.note(fault);
        break;
    case Fault::slow:
        if (!read_body(until, 1000))
            return false;
        ledger_.note(fault);
        break;
    default:
        break;
    }
    if (!read_whole())
        return false;
    if (fault == Fault::close_told)
        ledger_.note(fault);
    return finish_request(fault != Fault::close_told);
}

bool Served::finish_request(bool keep) {
    if (!answer("200 OK", keep) || !keep)
        return false;
    reader_.next();
    return true;
}

bool Served::break_off(Fault fault, std::size_t until) {
    if (!read_body(until))
        return false;
    if (reader_.at() == Reader::At::whole)
        return finish_request(true);
    if (fault == Fault::reset_later) {
        rest(10'000 + dice_.below(80'000));
        note_blocked();
    }
    if (fault == Fault::close_inside) { // in two steps, as servers do
        end_.say_end();
        rest(dice_.below(5000));
    }
    leave(fault, fault != Fault::close_inside);
    return false;
}

bool Served::serve_early(Fault fault, std::size_t until) {
    if (!read_body(until))
        return false;
    if (reader_.at() == Reader::At::whole)
        return finish_request(true);
    ledger_.note(fault);
    if (fault == Fault::early_reset) {
        (void)answer("413 Content Too Large", false);
        rest(dice_.below(2000));
        end_.reset();
        return false;
    }
    ledger_.promise_answer(reader_.upload().id);
    const bool good = fault == Fault::early_good;
    const bool busy = fault == Fault::busy;
    if (!answer(busy ? "503 Busy" : good ? "200 OK" : "413 Content Too Large", good))
        return false;
    if (fault == Fault::early_hold || busy)
        hold();
    else if (read_whole() && good) {
        reader_.next();
        return true;
    }
    return false;
}

bool Served::read_some(std::size_t most, int milliseconds) {
    char bytes[65536];
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    for (;;) {
        const std::ptrdiff_t got = end_.read(bytes, std::min(most, sizeof bytes));
        if (got > 0) {
            reader_.take({bytes, static_cast<std::size_t>(got)});
            return reader_.at() != Reader::At::lost;
        }
        if (got != End::not_now || ledger_.stopping || std::chrono::steady_clock::now() >= end)
            return false;
        (void)end_.wait(std::min(milliseconds, 100));
    }
}

bool Served::read_body(std::size_t until, std::size_t at_once) {
    while (reader_.at() == Reader::At::body && reader_.body_read() < until) {
        if (at_once < 65536)
            rest(100);
        if (!read_some(std::min(at_once, until - reader_.body_read()), patience))
            return false;
    }
    return true;
}

bool Served::read_whole() {
    while (reader_.at() == Reader::At::body)
        if (!read_some(65536, patience))
            return false;
    return reader_.at() == Reader::At::whole;
}

bool Served::answer(std::string_view status, bool keep) {
    const std::string body = "of " + reader_.asked() + "\n";
    std::string text = "HTTP/1.1 " + std::string{status} + "\r\nX-Upload: " + reader_.asked() +
                       "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                       (keep ? "" : "Connection: close\r\n") + "\r\n" + body;
    return end_.write(text) == static_cast<std::ptrdiff_t>(text.size());
}

// Takes nothing more, and gives the answer all the time that it needs.
void Served::hold() {
    rest(5000);
    note_blocked();
    for (int waited = 0; waited < patience && !end_.peer_gone() && !ledger_.stopping; waited += 5)
        rest(5000);
}

void Served::note_blocked() {
    if (reader_.at() == Reader::At::body &&
        reader_.body_read() + end_.unread() < reader_.upload().size)
        ++ledger_.blocked;
}

void Served::leave(Fault fault, bool reset) {
    ledger_.note(fault);
    reader_.abandon();
    if (reset)
        end_.reset();
    else
        end_.close();
}

} // namespace stint::uploads
