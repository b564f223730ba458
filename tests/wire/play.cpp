#include "play.hpp"

#include "http2_text.hpp"
#include "in_process_gateway.hpp"
#include "transcript.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace stint::wire {
namespace {

using test::InProcessGateway;
using test::Wire;

constexpr std::string_view one_route = "routes: [{name: all, match: {path: /}, upstream: origin}]";

// Of long texts so many positions are tried, evenly spread.
constexpr std::size_t most_splits = 300;

// All that an upstream may learn of the client's TLS.
std::string as_without_tls(std::string seen) {
    for (const std::string_view told : {"\r\nX-Forwarded-Proto: https", ";proto=https"})
        for (std::size_t at = 0; test::over_tls() && (at = seen.find(told, at)) < seen.size();)
            seen.erase(at + told.size() - 1, 1);
    return seen;
}

// An upstream is told how a request has come.
std::string as_over_http1(std::string seen) {
    constexpr std::string_view http2 = "2.0 stint\r\n";
    for (std::size_t at = 0; test::over_http2() && (at = seen.find(http2, at)) < seen.size();)
        seen.replace(at, http2.size(), "1.1 stint\r\n");
    return seen;
}

void end(Wire& wire, Row::End how) {
    switch (how) {
    case Row::End::none:
        return;
    case Row::End::half_close:
        return wire.shutdown_send();
    case Row::End::close:
        return wire.close();
    case Row::End::reset:
        return wire.reset();
    }
}

// An upstream that answers as its row says, over as many connections as it is called on.
class Upstream {
  public:
    Upstream(InProcessGateway& gateway, const Row& row) : gateway_{gateway}, row_{row} {}

    void begin(std::size_t split) {
        std::erase_if(
            connections_, [](Connection& each) { return each.ended || each.wire.closed(); });
        if (test::over_http2()) // requests that come at once take connections in any order
            connections_.clear();
        gateway_.settle();
        for (Connection& each : connections_)
            each = Connection{std::move(each.wire)};
        split_ = split;
        answered_ = 0;
    }

    // Takes what has come and answers what is due. False: there was nothing to do.
    bool go_on() {
        bool any = false;
        while (gateway_.upstream.called()) {
            connections_.push_back(Connection{gateway_.upstream.accept()});
            any = true;
        }
        for (Connection& each : connections_)
            any = (!each.ended && go_on(each)) || any;
        return any;
    }

    [[nodiscard]] std::string seen() const {
        std::string text;
        for (const Connection& each : connections_)
            text += read_requests(
                        as_over_http1(as_without_tls(each.seen)), {row_.whole_hops, row_.tunnel})
                        .text;
        return text;
    }

  private:
    struct Connection {
        explicit Connection(Wire to) : wire{std::move(to)} {}
        Wire wire;
        std::string seen;
        std::size_t answers = 0;
        bool ended = false;
    };

    bool go_on(Connection& on) {
        const std::size_t more = on.wire.received().size();
        on.seen += on.wire.read(more);
        const Requests requests = read_requests(on.seen, {false, row_.tunnel});
        const std::size_t due =
            row_.answered == Row::When::request ? requests.whole : requests.heads;
        bool any = more > 0;
        for (; on.answers < due && !on.ended; any = true)
            answer(on);
        if (!on.ended && on.wire.closed()) {
            on.ended = any = true;
            on.wire.close();
        }
        return any;
    }

    void answer(Connection& on) {
        ++on.answers;
        const std::size_t last = row_.answers.empty() ? 0 : row_.answers.size() - 1;
        const std::string_view text =
            row_.answers.empty() ? std::string_view{ok} : row_.answers[std::min(answered_++, last)];
        (void)on.wire.send_some(text.substr(0, split_));
        if (split_ < text.size()) {
            gateway_.settle();
            (void)on.wire.send_some(text.substr(split_));
        }
        on.ended = row_.upstream_ends != Row::End::none;
        end(on.wire, row_.upstream_ends);
    }

    InProcessGateway& gateway_;
    const Row& row_;
    std::vector<Connection> connections_;
    std::size_t split_ = 0;
    std::size_t answered_ = 0;
};

class Stage {
  public:
    explicit Stage(const Row& row)
        : row_{row},
          gateway_{
              row.config.empty() ? one_route : std::string_view{row.config},
              {.http2_prior_knowledge = test::over_http2()}},
          upstream_{gateway_, row} {
        if (!test::over_http2()) {
            client_ = row.client;
            then_ = row.then;
            return;
        }
        Http2Writer writer;
        client_ = writer.frames(row.client);
        then_ = row.then.empty() ? std::string{} : writer.frames(row.then);
    }

    [[nodiscard]] std::size_t client_size() const noexcept { return client_.size(); }

    // Splits the client's bytes and the upstream's answers there.
    void play(std::size_t client_split, std::size_t upstream_split) {
        upstream_.begin(upstream_split);
        Wire client =
            row_.half_close_allowed ? gateway_.connect_half_closing() : gateway_.connect();
        const bool listens =
            row_.client_ends == Row::End::none || row_.client_ends == Row::End::half_close;
        reader_ = listens ? &client : nullptr;
        read_ = 0;
        if (test::over_http2())
            begin_http2(client);
        (void)client.send_some(std::string_view{client_}.substr(0, client_split));
        if (client_split < client_.size()) {
            quiet();
            (void)client.send_some(std::string_view{client_}.substr(client_split));
        }
        quiet();
        if (!then_.empty()) {
            (void)client.send_some(then_);
            quiet();
        }
        end(client, row_.client_ends);
        quiet();
        if (row_.passes > Duration::zero()) {
            gateway_.pass(row_.passes);
            quiet();
        }
        if (listens)
            judge_client(client);
        judge_upstream();
        reader_ = nullptr;
        client.close();
        quiet();
        CHECK(gateway_.context().connections.empty());
    }

  private:
    void quiet() {
        do
            gateway_.settle();
        while (upstream_.go_on() || read_on());
    }
    // What stays unread in a small socket buffer holds up what comes after it.
    bool read_on() {
        const std::size_t before = read_;
        if (reader_ != nullptr)
            read_ = reader_->received().size();
        return read_ > before;
    }

    void begin_http2(Wire& client) {
        (void)client.send_some(Http2Writer::opening());
        quiet();
        (void)client.send_some(Http2Writer::acknowledgement());
    }

    void judge_client(Wire& client) const {
        const bool ended = client.closed();
        const bool head = row_.client.starts_with("HEAD ");
        if (test::over_http2()) {
            const std::string seen = canonical(read_http2(client.received(), head, ended));
            const std::string& other = row_.http2.client_got;
            const std::string due = other.empty() ? canonical_response(row_.client_got) : other;
            // What is malformed may be answered before the stream is reset (RFC 9113 8.1.1).
            if (due != "<400>" || seen != "<reset>")
                CHECK(seen == due);
            return;
        }
        CHECK(read_responses(client.received(), head, ended) == row_.client_got);
    }

    // Before what a row is sure of there may be the beginning of a request that was cut off.
    void judge_upstream() const {
        const std::string seen = upstream_.seen();
        if (row_.may_begin && seen.ends_with("<cut>"))
            CHECK(row_.upstream_saw.empty());
        else if (test::over_http2())
            CHECK(
                canonical(seen) ==
                canonical(as_without_tls(row_.http2.upstream_saw.value_or(row_.upstream_saw))));
        else
            CHECK(seen == as_without_tls(row_.upstream_saw));
    }

    const Row& row_;
    InProcessGateway gateway_;
    Upstream upstream_;
    std::string client_; // what it sends, as bytes
    std::string then_;
    Wire* reader_ = nullptr; // the client, if it reads
    std::size_t read_ = 0;   // of it
};

template <class Try>
void at_every_split(std::size_t size, Try attempt) {
    const std::size_t step = std::max<std::size_t>(1, size / most_splits);
    for (std::size_t at = 1; at < size; at += step)
        attempt(at);
}

void play_at_splits(const Row& row) {
    Stage stage{row};
    at_every_split(stage.client_size(), [&](std::size_t at) {
        CAPTURE(at);
        stage.play(at, std::string_view::npos);
    });
    std::size_t longest = row.answers.empty() ? ok.size() : 0;
    for (const std::string& answer : row.answers)
        longest = std::max(longest, answer.size());
    at_every_split(row.upstream_saw.empty() ? 0 : longest, [&](std::size_t upstream_at) {
        CAPTURE(upstream_at);
        stage.play(std::string_view::npos, upstream_at);
    });
}

// Over HTTP/2 at most this many rows are left out that it could have.
constexpr std::size_t most_left_out = 40;

bool is_played(const Row& row) {
    using Played = Row::OverHttp2::Played;
    static std::size_t left_out = 0;
    if (!test::over_http2() || row.http2.played == Played::yes)
        return true;
    CHECK(!row.http2.why.empty());
    left_out += row.http2.played == Played::no ? 1 : 0;
    CHECK(left_out <= most_left_out);
    return false;
}

void report(std::size_t rows) {
    const char* file = std::getenv("STINT_REPORT");
    if (file == nullptr)
        return;
    std::ofstream{file, std::ios::app}
        << R"({"name": "wire: )" << doctest::getContextOptions()->currentTest->m_name
        << R"(", "wanted": "all hold", "seen": ")" << rows << " rows\"}\n";
}

} // namespace

void play(const Rows& rows) {
    std::size_t played = 0;
    for (const Row& row : rows) {
        INFO(row.name, " (", row.source, ")");
        if (!is_played(row))
            continue;
        ++played;
        Stage{row}.play(std::string_view::npos, std::string_view::npos);
        if (!row.once)
            play_at_splits(row);
    }
    report(played);
}

} // namespace stint::wire
