// The command line: stint run | check | simulate | fields. Parses the arguments and calls the code
// of each command.
#include "admin/server.hpp"
#include "base/version.hpp"
#include "config/fields/reference.hpp"
#include "config/load.hpp"
#include "runtime/check_warnings.hpp"
#include "runtime/gateway.hpp"
#include "runtime/process.hpp"
#include "runtime/tls_objects.hpp"
#include "simulate/simulate.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace stint;

enum Exit { ok = 0, failed = 1, bad_configuration = 2 };

// Reads and checks a configuration with its TLS files. Prints all errors and returns nullopt if
// there are any.
std::optional<config::Config> load(const std::string& file) {
    auto loaded = config::load_file(file);
    const config::ConfigErrors mistakes =
        loaded ? runtime::tls_mistakes(*loaded, file) : loaded.error();
    for (const config::ConfigError& mistake : mistakes)
        std::cerr << mistake.text() << '\n';
    if (!mistakes.empty())
        return std::nullopt;
    return std::move(*loaded);
}

int check(const std::string& file) {
    const auto config = load(file);
    if (!config)
        return bad_configuration;
    std::cout << file << ": ok (" << config->routes.size() << " routes, "
              << config->upstreams.size() << " upstreams, " << config->limits.size()
              << " limits)\n";
    for (const std::string& note : runtime::check_warnings(*config))
        std::cout << file << ": note: " << note << '\n';
    return ok;
}

int give_up(const std::string& reason) {
    spdlog::shutdown();
    std::cerr << "stint: " << reason << '\n';
    return failed;
}

int run(const std::string& file) {
    runtime::ignore_signals();
    auto config = load(file);
    if (!config)
        return bad_configuration;
    // The operational log goes to standard error, because standard output is for the access log.
    spdlog::set_default_logger(spdlog::stderr_color_mt("stint"));
    runtime::Gateway gateway{std::move(*config), file};
    if (const auto started = gateway.start(); !started)
        return give_up(started.error());
    admin::Server admin{gateway};
    if (gateway.config().admin)
        if (const auto opened = admin.start(*gateway.config().admin); !opened)
            return give_up(opened.error());
    gateway.on_stop([&admin] { admin.stop(); });
    gateway.run();
    return ok;
}

int replay(const simulate::Options& options) {
    spdlog::set_level(spdlog::level::off); // a simulation needs no operational log
    switch (simulate::run(options, std::cout, std::cerr)) {
    case simulate::Ending::replayed:
        return std::cout.flush() ? ok : failed;
    case simulate::Ending::unreadable_log:
        return failed;
    case simulate::Ending::bad_configuration:
        break;
    }
    return bad_configuration;
}

CLI::App* add_simulate(CLI::App& app, simulate::Options& options) {
    CLI::App* command =
        app.add_subcommand("simulate", "Replay access logs: who would be refused, by which limit");
    command->add_option("-c,--config", options.config, "The configuration (YAML)")->required();
    command->add_option(
        "--against", options.against,
        "Another configuration to compare with (otherwise what the log says happened)");
    command->add_flag("--json", options.json, "Report as JSON");
    command
        ->add_option_function<std::vector<std::string>>(
            "--logged",
            [&options](const std::vector<std::string>& names) {
                options.logged.insert(names.begin(), names.end());
            },
            "A field (lower case) that the log carries wherever a request had it")
        ->allow_extra_args(false);
    command
        ->add_option("LOG", options.logs, "Access logs as Stint writes them; - is standard input")
        ->required();
    return command;
}

} // namespace

int main(int argc, char** argv) {
    runtime::open_standard_streams();
    CLI::App app{"Stint, a rate-limiting HTTP gateway", "stint"};
    app.set_version_flag("--version", "stint " + std::string{version});
    app.require_subcommand(1);
    std::string file;
    CLI::App* run_command = app.add_subcommand("run", "Serve as FILE says, until SIGTERM");
    run_command->add_option("-c,--config", file, "The configuration (YAML)")->required();
    CLI::App* check_command = app.add_subcommand("check", "Report every mistake in FILE");
    check_command->add_option("FILE", file, "The configuration (YAML)")->required();
    CLI::App* fields_command =
        app.add_subcommand("fields", "Print every key of the configuration, as Markdown");
    simulate::Options simulation;
    CLI::App* simulate_command = add_simulate(app, simulation);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ok : bad_configuration; // 0 means --help, --version
    }
    try {
        if (fields_command->parsed())
            return std::cout << config::reference_page() << std::flush ? ok : failed;
        if (simulate_command->parsed())
            return replay(simulation);
        return run_command->parsed() ? run(file) : check(file);
    } catch (const std::exception& failure) {
        return give_up(failure.what());
    }
}
