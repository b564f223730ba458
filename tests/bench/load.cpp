// Sends requests at a fixed rate, or as fast as they are answered, and prints what it saw as one
// line of JSON. scripts/bench runs it; see --help.
#include "generator.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <limits>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace {

using namespace stint::bench;

void describe(CLI::App& app, LoadOptions& options) {
    app.add_option("--port", options.port, "of the server, on 127.0.0.1")->required();
    app.add_option("--connections", options.connections, "kept open, unless --close");
    app.add_option("--path", options.request.path, "may have {n}: see --distinct");
    app.add_option("--field", options.request.fields, "'Name: value', may have {n}; repeatable");
    app.add_option("--distinct", options.request.distinct, "so many numbers for {n}, in turn");
    app.add_option("--post", options.request.post, "POST a body of so many bytes");
    app.add_option("--rate", options.rate, "requests a second; 0: as fast as they are answered");
    app.add_option("--warm", options.warm, "seconds before anything is counted");
    app.add_option("--seconds", options.seconds, "that are counted");
    app.add_option("--count", options.count, "so many requests instead, all counted");
    app.add_flag("--close", options.close, "a connection a request");
    app.add_option("--sources", options.sources, "connect from so many addresses of 127.0.0.0/8");
    app.add_flag("--hold", options.hold, "one request a connection; stay until the input ends");
    app.add_option("--server", options.server, "processes whose time is measured")->delimiter(',');
    app.add_option("--origin", options.origin, "likewise")->delimiter(',');
    app.add_option("--cores", options.cores, "cores whose idle time is measured")->delimiter(',');
}

nlohmann::json json(const LoadResults& results) {
    nlohmann::json statuses = nlohmann::json::object();
    for (const auto& [status, number] : results.statuses)
        statuses[std::to_string(status)] = number;
    return {
        {"seconds", results.seconds},
        {"done", results.done},
        {"failed", results.failed},
        {"damaged", results.damaged},
        {"connects", results.connects},
        {"bytes", results.bytes},
        {"statuses", statuses},
        {"latency_us",
         {{"p50", results.latency.quantile(0.5)},
          {"p99", results.latency.quantile(0.99)},
          {"p99.9", results.latency.quantile(0.999)},
          {"max", results.latency.max()}}},
        {"cpu",
         {{"server", results.cpu.server},
          {"origin", results.cpu.origin},
          {"load", results.cpu.load},
          {"idle", results.cpu.idle}}},
    };
}

// As many files as may be; sleeps that end when they should, not 50 us later.
void prepare_process() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::prctl(PR_SET_TIMERSLACK, 1'000);
}

} // namespace

int main(int argc, char** argv) try {
    LoadOptions options;
    CLI::App app{"Load for a proxy under measurement"};
    describe(app, options);
    CLI11_PARSE(app, argc, argv);
    prepare_process();
    Generator generator(options);
    std::cout << json(generator.run()) << std::endl;
    if (options.hold)
        std::cin.ignore(std::numeric_limits<std::streamsize>::max());
    return 0;
} catch (const std::exception& error) {
    std::cerr << "bench_load: " << error.what() << '\n';
    return 1;
}
