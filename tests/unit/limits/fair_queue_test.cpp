#include "fixture.hpp"
#include "limits/queue/fair_queue.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <string>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

struct Named : FairQueue::Item {
    explicit Named(std::string text) : name{std::move(text)} {}
    std::string name;
};

// A queue whose items are named "flow:number" by the order of their coming.
class Line {
  public:
    ~Line() {
        while (!queue.empty())
            queue.pop_front();
    }

    void push(char flow, std::uint64_t cost = 1) {
        std::string name{flow};
        name.append(std::to_string(++counts_[flow]));
        queue.push(
            items_.emplace_back(name), key(static_cast<unsigned char>(flow)), cost, ++arrivals_);
    }
    void push(const std::string& flows) {
        for (const char flow : flows)
            push(flow);
    }
    void erase(const std::string& name) {
        for (Named& item : items_)
            if (item.name == name)
                queue.erase(item);
    }
    std::string pop() {
        auto& item = static_cast<Named&>(queue.front());
        queue.pop_front();
        return item.name;
    }
    std::string pop_all() {
        std::string all;
        while (!queue.empty())
            all.append(all.empty() ? "" : " ").append(pop());
        return all;
    }
    std::string foreseen() {
        std::string all;
        queue.for_each_in_order([&](FairQueue::Item& item, std::uint64_t) {
            all.append(all.empty() ? "" : " ").append(static_cast<Named&>(item).name);
            return true;
        });
        return all;
    }
    std::string last() { return static_cast<Named&>(queue.last()).name; }

    FairQueue queue;

  private:
    std::deque<Named> items_;
    std::map<char, int> counts_;
    std::uint64_t arrivals_ = 0;
};

} // namespace

TEST_CASE("flows take turns, and within one the first to come goes first") {
    Line line;
    line.push("aaaabbc");

    CHECK(line.pop_all() == "a1 b1 c1 a2 b2 a3 a4");
}

TEST_CASE("a newcomer's turn comes after one item of each other flow, however many they have") {
    Line line;
    line.push(std::string(1000, 'a') + std::string(500, 'b'));
    CHECK(line.pop() == "a1");

    line.push("c");

    CHECK(line.pop() == "b1");
    CHECK(line.pop() == "a2");
    CHECK(line.pop() == "c1");
}

TEST_CASE("flows share by cost, not by number") {
    Line line;
    for (int i = 0; i < 3; ++i)
        line.push('a', 4);
    for (int i = 0; i < 12; ++i)
        line.push('b', 1);

    CHECK(line.pop_all() == "a1 b1 b2 b3 b4 a2 b5 b6 b7 b8 a3 b9 b10 b11 b12");
}

TEST_CASE("an item that leaves lets the next of its flow move up") {
    Line line;
    line.push("aabb");

    line.erase("a1");

    CHECK(line.pop_all() == "a2 b1 b2");
}

TEST_CASE("the front stays the front until it goes") {
    Line line;
    line.push("ab");
    FairQueue::Item* const front = &line.queue.front();

    line.push("cc");

    CHECK(&line.queue.front() == front);
    CHECK(line.pop_all() == "a1 b1 c1 c2");
}

TEST_CASE("an item that comes late from elsewhere stands in its flow where it would have stood") {
    Line line;
    line.push("aa");
    Named early{"early"};
    line.queue.push(early, key('a'), 1, 1); // as old as a1, older than a2

    CHECK(line.pop_all() == "a1 early a2");
}

TEST_CASE("the last is the youngest of the heaviest flow") {
    Line line;
    line.push("aabbbc");
    CHECK(line.last() == "b3");

    line.push("a");
    CHECK(line.last() == "a3");
}

TEST_CASE("a flow knows how it would stand with one more") {
    Line line;
    line.push("aab");

    using Standing = FairQueue::Standing;
    const auto standing = [&](char flow, std::uint64_t more, std::uint64_t arrival) {
        return line.queue.standing(key(static_cast<unsigned char>(flow)), more, arrival);
    };
    CHECK(standing('a', 1, 4) == Standing::last);
    CHECK(standing('a', 1, 0) == Standing::not_lighter); // goes before what is there of its own
    CHECK(standing('b', 1, 4) == Standing::not_lighter); // may go before a's second
    CHECK(standing('c', 1, 4) == Standing::lighter);
    line.push('b');
    line.push('c');
    CHECK(standing('c', 1, 6) == Standing::not_lighter);
    CHECK(standing('d', 2, 6) == Standing::not_lighter); // and with other costs nobody knows
}

TEST_CASE("the order that is foreseen is the order in which items go") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        Line line;
        for (int step = 0; step < 60; ++step) {
            if (random() % 3 != 0 || line.queue.empty())
                line.push(static_cast<char>('a' + random() % 5), 1 + random() % 4);
            else
                line.pop();
            if (random() % 8 == 0 && !line.queue.empty())
                (void)line.queue.front(); // looking begins a turn, which must not change the order
        }
        const std::string foreseen = line.foreseen();

        CHECK(line.pop_all() == foreseen);
    }
}
