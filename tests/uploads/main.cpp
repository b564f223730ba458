// Uploads through Stint to an upstream that goes wrong at random, with every byte checked on both
// sides. See docs/testing.md.
//
//   upload_check --stint PORT --upstreams PORT,PORT --count N [--seed N] [--clients N]
//                [--tls AUTHORITY,CERTIFICATE,KEY] [--blocked]
//
// --blocked: fails unless writes of Stint's were partial. Exit code 1: a violation, or a kind of
// fault that never came.
#include "client.hpp"
#include "ledger.hpp"
#include "upstream.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stint::uploads {
namespace {

using Options = std::map<std::string, std::string>;

Options read_options(int count, char** words) {
    Options options{{"--seed", "1"}, {"--clients", "48"}, {"--count", "4000"}};
    for (int i = 1; i < count; ++i) {
        const std::string name = words[i];
        options[name] = name == "--blocked" || i + 1 == count ? "yes" : words[++i];
    }
    return options;
}

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text)
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

std::uint16_t port_of(const std::string& text) {
    return static_cast<std::uint16_t>(std::stoul(text));
}

void upload_all(Ledger& ledger, std::uint16_t port, const TlsSetting* tls, unsigned clients) {
    Client first{ledger, port, tls};
    first.upload(1); // by whose head the others know how much Stint adds
    std::atomic<std::uint64_t> last{1};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < clients; ++i)
        threads.emplace_back([&] {
            Client client{ledger, port, tls};
            for (std::uint64_t id = ++last; id <= ledger.count; id = ++last)
                client.upload(id);
        });
    for (std::thread& thread : threads)
        thread.join();
}

// Whether the run was one: every kind of fault has come.
bool all_faults_came(const Ledger& ledger, bool blocked) {
    bool all = true;
    for (std::size_t fault = 1; fault < fault_names.size(); ++fault)
        if (ledger.noted(static_cast<Fault>(fault)) == 0) {
            std::printf("never came: %s\n", fault_names[fault].data());
            all = false;
        }
    if (blocked && ledger.blocked == 0)
        std::printf("no write was partial\n");
    return all && (!blocked || ledger.blocked > 0);
}

int run(Options options) {
    std::signal(SIGPIPE, SIG_IGN); // OpenSSL's socket calls raise it
    std::unique_ptr<TlsSetting> tls;
    if (const auto files = parts_of(options["--tls"]); files.size() == 3)
        tls = std::make_unique<TlsSetting>(files[0], files[1], files[2]);
    Ledger ledger{std::stoull(options["--seed"]), std::stoull(options["--count"])};
    std::vector<std::unique_ptr<Upstream>> upstreams;
    std::vector<std::thread> threads;
    for (const std::string& port : parts_of(options["--upstreams"])) {
        upstreams.push_back(
            std::make_unique<Upstream>(ledger, port_of(port), tls.get(), !upstreams.empty()));
        threads.emplace_back([upstream = upstreams.back().get()] { upstream->run(); });
    }
    upload_all(
        ledger, port_of(options["--stint"]), tls.get(),
        static_cast<unsigned>(std::stoul(options["--clients"])));
    ledger.stopping = true;
    for (std::thread& thread : threads)
        thread.join();
    ledger.print();
    const bool real = all_faults_came(ledger, options.contains("--blocked"));
    return real && ledger.violations() == 0 ? 0 : 1;
}

} // namespace
} // namespace stint::uploads

int main(int count, char** words) {
    try {
        return stint::uploads::run(stint::uploads::read_options(count, words));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "upload_check: %s\n", error.what());
        return 2;
    }
}
