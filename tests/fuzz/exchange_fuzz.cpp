// The whole way from client to upstream and back, over loopback sockets: whatever both send, cut,
// reset or leave undone, each sees whole messages of the gateway's, the upstream sees no request
// that no client has made, and when all time-outs are over nothing is held any more.
//
// Input: a script (exchange_script.hpp).
#include "exchange_script.hpp"
#include "in_process_gateway.hpp"
#include "oracle.hpp"
#include "strict_http.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stint::fuzz {

namespace {

using test::InProcessGateway;
using test::Wire;

constexpr std::size_t longest = 64 * 1024;
constexpr std::size_t most_clients = 4;
constexpr std::uint64_t slots = 3;
constexpr int inputs_a_gateway = 1000;
constexpr int most_rounds = 5000; // a request each, where a client has sent many at once

constexpr std::string_view configuration =
    "max_head: 2KiB\n"
    "absolute_form: route\n"
    "limits: {slot: {concurrent: 3}, single: {concurrent: 1}}\n"
    "routes:\n"
    "  - {name: all, match: {path: /}, upstream: origin, limits: [slot]}\n"
    "  - {name: one, match: {path: /one}, upstream: origin, limits: [slot, single]}\n";

// One end of a connection and what went through it.
struct Peer {
    Wire wire;
    std::string sent{};
    bool reads = true;

    // Returns what is left, for want of room.
    std::string_view send(std::string_view bytes) {
        const std::size_t size = wire.send_some(bytes);
        sent += bytes.substr(0, size);
        bytes.remove_prefix(size);
        return bytes;
    }
    void close() {
        (void)wire.received();
        wire.close();
    }
    void reset() {
        (void)wire.received();
        wire.reset();
    }
};

class Stage {
  public:
    explicit Stage(InProcessGateway& gateway)
        : gateway_{gateway}, retries_before_{gateway.to_upstream().retries} {}

    void play(const Step& step) {
        if (!play_client(step) && !play_upstream(step) && step.command == 't')
            gateway_.pass(std::chrono::seconds{seconds_of(step.bytes)});
        if (step.settle)
            settle();
    }

    // Nobody says anything more: every time-out of the gateway ends what it is for.
    void wait_out() {
        const auto& connections = gateway_.context().connections;
        for (int round = 0; round < most_rounds && (round == 0 || !connections.empty()); ++round) {
            settle();
            gateway_.pass(std::chrono::hours{1});
        }
        settle();
        const auto& counters = gateway_.context().counters;
        require(connections.empty(), "every connection ends by itself");
        for (const char* limit : {"slot", "single"})
            require(gateway_.limit(limit).in_flight() == 0, "every slot is given back", limit);
        for (const auto& route : counters.routes)
            require(route.in_flight == 0, "every request ends");
    }

    void judge() {
        std::vector<Message> possible;
        for (Peer& client : clients_)
            judge_client(client, possible);
        std::size_t heads = 0;
        for (Peer& upstream : upstreams_)
            heads += judge_upstream(upstream, possible);
        require(
            heads <= possible.size() + gateway_.to_upstream().retries - retries_before_,
            "no more is asked than clients have asked", everything_sent());
    }

  private:
    static unsigned seconds_of(std::string_view text) {
        unsigned seconds = 0;
        for (const char c : text.substr(0, 3))
            if (c >= '0' && c <= '9')
                seconds = seconds * 10 + static_cast<unsigned>(c - '0');
        return std::max(seconds, 1U);
    }

    // With as many turns of the gateway as it takes; what a gone peer does not take is lost.
    void send(Peer& peer, std::string_view bytes) {
        for (std::size_t before = bytes.size() + 1; !bytes.empty() && bytes.size() < before;) {
            before = bytes.size();
            bytes = peer.send(bytes);
            if (!bytes.empty())
                gateway_.settle();
        }
    }

    void connect(Wire wire) {
        clients_.push_back({std::move(wire)});
        client_ = clients_.size() - 1;
    }

    bool play_client(const Step& step) {
        const bool connects = step.command == 'n' || step.command == 'H' || clients_.empty();
        if (connects && clients_.size() < most_clients)
            connect(step.command == 'H' ? gateway_.connect_half_closing() : gateway_.connect());
        Peer& client = clients_[client_];
        switch (step.command) {
        case 'n':
        case 'H':
        case 'c':
            send(client, step.bytes);
            return true;
        case 'p':
            client_ = (client_ + 1) % clients_.size();
            return true;
        case 'h':
            client.wire.shutdown_send();
            return true;
        case 'x':
            client.close();
            return true;
        case 'r':
            client.reset();
            return true;
        default:
            return false;
        }
    }

    bool play_upstream(const Step& step) {
        if (upstreams_.empty())
            return false;
        switch (step.command) {
        case 'u':
            send(upstreams_[upstream_], step.bytes);
            return true;
        case 's':
            upstreams_[upstream_].reads = !upstreams_[upstream_].reads;
            return true;
        case 'a':
            upstream_ = (upstream_ + 1) % upstreams_.size();
            return true;
        case 'e':
            upstreams_[upstream_].close();
            return true;
        case 'k':
            upstreams_[upstream_].reset();
            return true;
        default:
            return false;
        }
    }

    // Until nobody has anything to do without a further step.
    void settle() {
        for (std::size_t last = 0, now = 1; now != last;) {
            last = now;
            gateway_.settle();
            while (gateway_.upstream.called()) {
                upstreams_.push_back({gateway_.upstream.accept()});
                upstream_ = upstreams_.size() - 1;
            }
            now = 1 + upstreams_.size();
            for (Peer& peer : clients_)
                now += peer.wire.received().size();
            for (Peer& peer : upstreams_)
                now += peer.reads ? peer.wire.received().size() : 0;
        }
        require(gateway_.limit("slot").in_flight() <= slots, "a cap holds");
        require(gateway_.limit("single").in_flight() <= 1, "a cap of one holds");
    }

    static void judge_client(Peer& client, std::vector<Message>& possible) {
        std::vector<std::string> methods;
        for (Message& request : possible_requests(client.sent)) {
            methods.push_back(request.first);
            possible.push_back(std::move(request));
        }
        const auto responses = read_responses(client.wire.received(), methods);
        const auto final_ones = static_cast<std::size_t>(
            std::count_if(responses.begin(), responses.end(), [](const Message& response) {
                return response.second[0] != '1';
            }));
        require(final_ones <= methods.size() + 1, "a request has one final response", client.sent);
    }

    // Every request that it got is one that a client has made: its method, its target, and its
    // body, or the beginning of it where the request was cut off. Returns how many there were.
    std::size_t judge_upstream(Peer& upstream, const std::vector<Message>& possible) {
        const auto requests = read_requests(upstream.wire.received());
        for (const Message& seen : requests) {
            const bool asked =
                std::any_of(possible.begin(), possible.end(), [&seen](const Message& request) {
                    return request.first == seen.first &&
                           may_arrive_as(request.first, request.second, seen.second) &&
                           request.body.starts_with(seen.body) &&
                           (!seen.whole || (request.whole && request.body == seen.body));
                });
            require(asked, "a client has made the request", upstream.wire.received());
        }
        return requests.size();
    }

    std::string everything_sent() const {
        std::string all;
        for (const Peer& client : clients_)
            all.append(client.sent).append("\n--\n");
        return all;
    }

    InProcessGateway& gateway_;
    const std::uint64_t retries_before_;
    std::vector<Peer> clients_;
    std::vector<Peer> upstreams_;
    std::size_t client_ = 0;
    std::size_t upstream_ = 0;
};

InProcessGateway& gateway() {
    static std::unique_ptr<InProcessGateway> current;
    static int inputs = 0;
    if (inputs++ % inputs_a_gateway == 0) {
        current.reset();
        current = std::make_unique<InProcessGateway>(configuration);
    }
    return *current;
}

void run(std::string_view script) {
    InProcessGateway& under_test = gateway();
    Stage stage{under_test};
    for (const Step& step : parse_script(script))
        stage.play(step);
    stage.wait_out();
    stage.judge();
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    spdlog::set_level(spdlog::level::off);
    if (size <= stint::fuzz::longest)
        stint::fuzz::run({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
