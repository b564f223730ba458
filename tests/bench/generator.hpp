// Sends requests to one server over many connections from one thread, and counts what comes back.
#pragma once

#include "connection.hpp"
#include "histogram.hpp"
#include "request.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace stint::bench {

struct LoadOptions {
    std::uint16_t port = 0;
    unsigned connections = 64;
    RequestOptions request;

    // Requests a second, whatever comes back: each has a time at which it is due, and its latency
    // counts from then on, so that a server that stalls is charged for all that it has held up.
    // They go over the connections in turn. 0: each connection sends its next request as soon as it
    // has an answer.
    double rate = 0;

    double warm = 0.5;       // seconds before anything is counted
    double seconds = 2;      // that are counted
    std::uint64_t count = 0; // so many requests instead, all of them counted

    bool close = false;   // a connection a request
    unsigned sources = 0; // connect from 127.0.0.2 and so many addresses from there on
    bool hold = false;    // one request a connection, which stays open

    // Whose time is measured meanwhile, and the cores whose idle time is.
    std::vector<int> server, origin, cores;
};

struct CpuUse {
    double server = 0, origin = 0, load = 0, idle = 0; // seconds
};

struct LoadResults {
    double seconds = 0;
    std::uint64_t done = 0, failed = 0, damaged = 0, connects = 0, bytes = 0;
    std::map<int, std::uint64_t> statuses;
    Histogram latency;
    CpuUse cpu;
};

class Generator {
  public:
    explicit Generator(const LoadOptions& options);
    ~Generator();
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    // Once. Throws std::runtime_error where nearly nothing is answered.
    LoadResults run();

  private:
    using Nanoseconds = std::int64_t;

    void issue();
    [[nodiscard]] bool may_issue(Nanoseconds now) const;
    void start(std::uint32_t connection, Nanoseconds due);
    void finished(std::uint32_t connection, Connection::Step step);
    void count(const Connection& connection);
    void wait();
    void begin_measuring(bool whole);
    [[nodiscard]] bool over() const;
    [[nodiscard]] Nanoseconds due(std::uint64_t request) const;
    [[nodiscard]] CpuUse used() const;

    LoadOptions options_;
    Request request_;
    int epoll_;
    std::vector<Connection> connections_;
    std::deque<std::uint32_t> free_; // the longest idle first
    std::deque<std::uint32_t>
        failed_; // free again after the next wait, so that failures take turns
    Nanoseconds begun_ = 0, measured_from_ = 0, measured_to_ = 0;
    std::uint64_t issued_ = 0, settled_ = 0;
    bool measuring_ = false;
    CpuUse used_before_;
    LoadResults results_;
};

} // namespace stint::bench
