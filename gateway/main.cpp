// The command line: stint run | check | simulate | import-nginx | fields | version. Parses the
// arguments and calls the code of each command.
#include "admin/server.hpp"
#include "base/version.hpp"
#include "check/check.hpp"
#include "config/fields/json_schema.hpp"
#include "config/fields/reference.hpp"
#include "config/load.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/source_files.hpp"
#include "runtime/gateway.hpp"
#include "runtime/process.hpp"
#include "simulate/simulate.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace stint;

// The options of `run` for upgrades.
struct UpgradeOptions {
    std::chrono::seconds longest_start{30};
    bool cold = false;
};

enum Exit { ok = 0, failed = 1, bad_configuration = 2, notes_found = 3, differs = 4 };

int check_file(const check::Options& options) {
    switch (check::run(options, std::cout, std::cerr)) {
    case check::Ending::fine:
        return ok;
    case check::Ending::unusable:
        return failed;
    case check::Ending::mistakes:
        return bad_configuration;
    case check::Ending::notes:
        return notes_found;
    case check::Ending::differs:
        break;
    }
    return differs;
}

int import_file(const std::string& file) {
    using import_nginx::Ending;
    const Ending ending = import_nginx::run(file, std::cout, std::cerr);
    if (ending == Ending::no_output)
        return failed;
    return ending == Ending::carried_over     ? ok
           : ending == Ending::lost_something ? notes_found
                                              : bad_configuration;
}

// Returns how to start this program with the same file anew.
runtime::Program program(const std::string& file, const UpgradeOptions& options) {
    runtime::Program made{
        {runtime::executable_file(), "run", "-c", file}, options.longest_start, options.cold};
    made.arguments.insert(
        made.arguments.end(), {"--upgrade-timeout", std::to_string(options.longest_start.count())});
    if (options.cold)
        made.arguments.push_back("--cold");
    return made;
}

int give_up(const std::string& reason) {
    spdlog::shutdown();
    std::cerr << "stint: " << reason << '\n';
    return failed;
}

int run(const std::string& file, const UpgradeOptions& options) {
    runtime::ignore_signals();
    runtime::ReadConfig read = runtime::read_config(file, runtime::environment_variable);
    auto config = check::usable(config::result_of(std::move(read.attempt)), file, std::cerr);
    if (!config)
        return bad_configuration;
    // The operational log goes to standard error, because standard output is for the access log.
    spdlog::set_default_logger(spdlog::stderr_color_mt("stint"));
    Result<void, std::string> started;
    { // the gateway's threads log, so it ends before the log does
        runtime::Gateway gateway{
            std::move(*config), file, runtime::environment_variable, program(file, options)};
        admin::Server admin{gateway};
        gateway.add(admin);
        started = gateway.start(std::move(read.file));
        if (started) {
            admin.start();
            gateway.run();
        }
    }
    return started ? ok : give_up(started.error());
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

// The arguments of all commands.
struct Arguments {
    std::string file;
    UpgradeOptions upgrade{};
    check::Options check{};
    simulate::Options simulation{};
};

CLI::App* add_run(CLI::App& app, Arguments& to) {
    CLI::App* command = app.add_subcommand("run", "Serve as FILE says, until SIGTERM");
    command->add_option("-c,--config", to.file, "The configuration (YAML)");
    command
        ->add_option_function<std::uint32_t>(
            "--upgrade-timeout",
            [&to](std::uint32_t seconds) {
                to.upgrade.longest_start = std::chrono::seconds{seconds};
            },
            "In an upgrade (SIGUSR2), the seconds until the new process can serve (30)")
        ->check(CLI::Range{1, 3600});
    command->add_flag(
        "--cold", to.upgrade.cold,
        "In an upgrade, also replace a process whose state this version does not understand: take "
        "its sockets, and begin all counts anew");
    return command;
}

CLI::App* add_check(CLI::App& app, Arguments& to) {
    CLI::App* command = app.add_subcommand("check", "Report every mistake in FILE");
    CLI::Option* named =
        command->add_option("-c,--config", to.file, "The configuration; the same as FILE");
    command->add_option("FILE", to.file, "The configuration (YAML); - is standard input")
        ->excludes(named);
    command->add_flag("--strict", to.check.strict, "Exit 3 if there are notes");
    command->add_flag(
        "--print", to.check.print,
        "Print the configuration with its defaults, as GET /config does");
    command->add_flag(
        "--store{" + std::string{check::all_stores} + "}", to.check.store,
        "Try the stores, or --store=NAME alone; exit 1 if one cannot be used");
    command
        ->add_option(
            "--diff", to.check.diff,
            "Report what a reload from this configuration to FILE would change; exit 4 if anything")
        ->excludes("--strict")
        ->excludes("--print")
        ->excludes("--store");
    return command;
}

void add_log_options(CLI::App& command, simulate::LogOptions& options) {
    using simulate::LogFormat;
    const std::map<std::string, LogFormat> formats{
        {"stint", LogFormat::stint}, {"nginx", LogFormat::nginx}, {"haproxy", LogFormat::haproxy}};
    command
        .add_option_function<std::string>(
            "--format",
            [&options, formats](const std::string& name) { options.format = formats.at(name); },
            "The format of all lines: stint, nginx or haproxy (otherwise recognised)")
        ->check(CLI::IsMember{{"stint", "nginx", "haproxy"}});
    command
        .add_option(
            "--captured", options.captured,
            "The name of a request header that HAProxy captured; once for each, in the log's order")
        ->allow_extra_args(false);
    command.add_option(
        "--host", options.host, "The Host of the requests whose log does not tell it");
}

CLI::App* add_simulate(CLI::App& app, simulate::Options& options) {
    CLI::App* command =
        app.add_subcommand("simulate", "Replay access logs: who would be refused, by which limit");
    command->add_option("-c,--config", options.config, "The configuration (YAML)");
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
    add_log_options(*command, options.log);
    command->add_option(
        "LOG", options.logs,
        "Access logs of Stint, nginx (combined) or HAProxy (httplog); - is standard input");
    return command;
}

int reject(const std::string& mistake) {
    std::cerr << "stint: " << mistake << "; see stint --help\n";
    return bad_configuration;
}

// Returns an error if the first argument is missing, or is neither a command nor an option; else
// "".
std::string wrong_command(const CLI::App& app, int argc, char** argv) {
    if (argc < 2)
        return "a command is missing";
    const std::string_view word = argv[1];
    if (word.starts_with('-'))
        return {};
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (std::ranges::find(names, word) != names.end())
        return {};
    const std::vector<std::string_view> known{names.begin(), names.end()};
    const std::string hint = config::did_you_mean(word, known);
    return config::in_quotes(word) + " is not a command" +
           (hint.empty() ? "; expected " + config::listed(known, "or") : hint);
}

} // namespace

int main(int argc, char** argv) {
    runtime::hold_signals();
    runtime::open_standard_streams();
    const std::string shown_version = "stint " + std::string{version};
    Arguments arguments;
    CLI::App app{"Stint, a rate-limiting HTTP gateway", "stint"};
    app.set_version_flag("--version", shown_version);
    const CLI::App* run_command = add_run(app, arguments);
    const CLI::App* check_command = add_check(app, arguments);
    const CLI::App* simulate_command = add_simulate(app, arguments.simulation);
    CLI::App* const import_command = app.add_subcommand(
        "import-nginx", "Print a draft of a configuration, made from that of nginx in FILE");
    import_command->add_option("FILE", arguments.file, "nginx's main file; - is standard input")
        ->required();
    const CLI::App* fields_command =
        app.add_subcommand("fields", "Print every key of the configuration, as Markdown");
    const CLI::App* schema_command = app.add_subcommand(
        "schema", "Print a JSON Schema of the configuration, for editors and validators");
    const CLI::App* version_command = app.add_subcommand("version", "Print the version");
    if (const std::string mistake = wrong_command(app, argc, argv); !mistake.empty())
        return reject(mistake);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ok : bad_configuration; // --help and --version end here, too
    }
    if (!run_command->parsed())
        runtime::deliver_held_signals();
    try {
        if (version_command->parsed())
            return std::cout << shown_version << std::endl ? ok : failed;
        if (fields_command->parsed())
            return std::cout << config::reference_page() << std::flush ? ok : failed;
        if (schema_command->parsed())
            return std::cout << config::json_schema() << std::flush ? ok : failed;
        if (simulate_command->parsed()) {
            if (arguments.simulation.config.empty() || arguments.simulation.logs.empty())
                return reject("simulate needs -c FILE and a LOG");
            arguments.simulation.environment = runtime::environment_variable;
            const std::string mistake = simulate::mistake_in(arguments.simulation.log);
            if (!mistake.empty())
                return reject(mistake);
            return replay(arguments.simulation);
        }
        if (import_command->parsed())
            return import_file(arguments.file);
        if (arguments.file.empty())
            return reject(run_command->parsed() ? "run needs -c FILE" : "check needs a FILE");
        if (check_command->parsed()) {
            if (arguments.file == "-" && arguments.check.diff == "-")
                return reject("check reads standard input once");
            arguments.check.file = arguments.file;
            arguments.check.environment = runtime::environment_variable;
            return check_file(arguments.check);
        }
        if (arguments.file == "-")
            return reject("run needs a file, which a reload reads again");
        return run(arguments.file, arguments.upgrade);
    } catch (const std::exception& failure) {
        return give_up(failure.what());
    }
}
