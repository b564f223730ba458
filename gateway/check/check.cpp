#include "check/check.hpp"

#include "admin/config_json.hpp"
#include "check/diff.hpp"
#include "check/source.hpp"
#include "runtime/check_warnings.hpp"
#include "runtime/config_notes.hpp"
#include "runtime/store_trials.hpp"
#include "runtime/tls_objects.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>
#include <vector>

namespace stint::check {
namespace {

void write_all(const config::ConfigErrors& mistakes, std::ostream& errors) {
    for (const config::ConfigError& mistake : mistakes)
        errors << mistake.text() << '\n';
}

Ending try_stores(
    const config::Config& config,
    const std::string& file,
    const std::string& name,
    std::ostream& out,
    std::ostream& errors) {
    const auto tried =
        runtime::try_stores(config, file, name == all_stores ? std::string{} : name, out);
    if (tried && *tried != runtime::StoreTrials::no_such_store)
        return *tried == runtime::StoreTrials::all_usable ? Ending::fine : Ending::unusable;
    if (tried)
        errors << "stint: there is no such store in " << file << '\n';
    else
        write_all(tried.error(), errors);
    return Ending::mistakes;
}

Ending report(const Options& options, std::ostream& out, std::ostream& errors) {
    const Source source = read_source(options.file);
    const auto config = usable(load(source, options.environment), source.shown, errors);
    if (!config)
        return Ending::mistakes;
    if (options.print)
        out << admin::json_response(admin::config_json(*config)).body;
    else
        out << source.shown << ": ok (" << config->routes.size() << " routes, "
            << config->upstreams.size() << " upstreams, " << config->limits.size() << " limits)\n";
    std::vector<std::string> notes = runtime::config_notes(*config);
    std::ranges::move(runtime::check_warnings(*config), std::back_inserter(notes));
    for (const std::string& note : notes)
        (options.print ? errors : out) << source.shown << ": note: " << note << '\n';
    const Ending tried = options.store.empty()
                             ? Ending::fine
                             : try_stores(*config, source.shown, options.store, out, errors);
    if (tried != Ending::fine)
        return tried;
    return options.strict && !notes.empty() ? Ending::notes : Ending::fine;
}

// The certificates of the former configuration may be gone by now, and nothing is served with them.
Ending compare(const Options& options, std::ostream& out, std::ostream& errors) {
    const Source former = read_source(*options.diff);
    const Source next = read_source(options.file);
    auto before = load(former, options.environment);
    if (!before)
        write_all(before.error(), errors);
    const auto after = usable(load(next, options.environment), next.shown, errors);
    if (!before || !after)
        return Ending::mistakes;
    return write_diff({former, *before}, {next, *after}, out) ? Ending::differs : Ending::fine;
}

} // namespace

Ending run(const Options& options, std::ostream& out, std::ostream& errors) {
    const Ending ending =
        options.diff ? compare(options, out, errors) : report(options, out, errors);
    return out.flush() ? ending : Ending::unusable;
}

std::optional<config::Config> usable(
    Result<config::Config, config::ConfigErrors> loaded,
    const std::string& file,
    std::ostream& errors) {
    const config::ConfigErrors mistakes =
        loaded ? runtime::tls_mistakes(*loaded, file) : loaded.error();
    write_all(mistakes, errors);
    if (!mistakes.empty())
        return std::nullopt;
    return std::move(*loaded);
}

} // namespace stint::check
