#include "runtime/store_trials.hpp"

#include "base/hash.hpp"
#include "base/time.hpp"
#include "runtime/shared_stores.hpp"
#include "runtime/tls_objects.hpp"
#include "stores/trial.hpp"
#include "tls/ticket_keys.hpp"

#include <memory>
#include <ostream>
#include <utility>
#include <vector>

namespace stint::runtime {

Result<StoreTrials, config::ConfigErrors> try_stores(
    const config::Config& config,
    const std::filesystem::path& file,
    const std::string& name,
    std::ostream& out) {
    const auto tls = load_tls(config, file, {}, std::make_shared<tls::TicketKeys>(SteadyTime{}));
    if (!tls)
        return tls.error();
    auto settings = store_settings(config, *tls, file, {.made = "check"});
    if (!settings)
        return std::move(settings.error());
    if (!name.empty())
        std::erase_if(*settings, [&](const auto& each) { return each.name != name; });
    if (settings->empty())
        return StoreTrials::no_such_store;
    bool all = true;
    for (const stores::StoreSettings& each : *settings) {
        const stores::TrialReport report = trial_report(each, try_store(each));
        out << "store " << each.name << ":\n";
        for (const std::string& line : report.lines)
            out << "  " << line << "\n";
        all = all && report.usable;
    }
    return all ? StoreTrials::all_usable : StoreTrials::some_unusable;
}

} // namespace stint::runtime
