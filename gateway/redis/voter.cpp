#include "redis/voter.hpp"

#include "net/clock.hpp"

#include <string_view>
#include <utility>

namespace stint::redis {

std::string errors_of(const std::vector<VoterState>& voters) {
    std::string text;
    std::string_view between = ": ";
    for (const VoterState& each : voters)
        if (!each.error.empty()) {
            text.append(between).append(each.address).append(": ").append(each.error);
            between = "; ";
        }
    return text;
}

Voter::Voter(
    const net::Executor& executor,
    const HostPort& server,
    const std::string& certificate,
    const LinkSettings& settings,
    std::vector<Question> questions,
    std::string channel,
    Owner& owner)
    : server_{server}, questions_{std::move(questions)}, channel_{std::move(channel)}, owner_{
                                                                                           owner} {
    Link::User& user = *this;
    link_ = std::make_unique<Link>(
        executor, settings,
        std::make_unique<HostAddresses>(
            executor, server.host, server.port, certificate.empty() ? server.host : certificate),
        user);
}

// Replies come in order: the answer is complete with the last one.
void Voter::ask(bool anew) {
    again_ = again_ || (asked_ && anew);
    if (link_->ready() == nullptr || std::exchange(asked_, true))
        return;
    asked_at_ = net::read_steady_clock();
    error_.clear();
    for (const Question& each : questions_) {
        const auto sent = link_->ready()->send(each.command, [this, &each](const Reply& reply) {
            if (reply)
                take(each, *reply); // else the connection ends, and says so
        });
        if (!sent)
            return link_->give_up("a question cannot be sent");
    }
}

void Voter::take(const Question& question, const Value& reply) {
    std::string why = question.take(reply);
    if (error_.empty())
        error_ = std::move(why);
    if (&question == &questions_.back())
        finish();
}

void Voter::finish() {
    asked_ = false;
    told_error_ = error_;
    link_->note_success();
    if (error_.empty())
        owner_.on_word(asked_at_);
    if (std::exchange(again_, false))
        ask(false);
    owner_.on_voter();
}

void Voter::on_link_ready(Link&) {
    ask(false);
    Connection& connection = *link_->ready();
    // A connection of RESP2 would take no further questions: the next one in turn will do.
    if (!channel_.empty() && connection.protocol() == Protocol::resp3)
        (void)connection.subscribe(channel_, [](const Reply&) {});
}

void Voter::on_link_message(const Value&) {
    owner_.on_voter_message();
}

void Voter::on_link_down(Link&, const Failure& why) {
    asked_ = again_ = false;
    told_error_ = why.text;
    owner_.on_voter();
}

} // namespace stint::redis
