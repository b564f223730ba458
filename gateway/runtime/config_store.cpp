#include "runtime/config_store.hpp"

#include "net/clock.hpp"
#include "runtime/compile_limit.hpp"
#include "runtime/destroyed_on.hpp"
#include "runtime/enforced_pairs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace stint::runtime {
namespace {

// A reload runs on the control thread, which must not wait for whoever writes to a pipe.
std::optional<config::ConfigErrors> fault_of_pipe(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_fifo(file, ignored))
        return std::nullopt;
    return config::ConfigErrors{
        {file.string(), 1, 1, "is a pipe; expected a file that can be read again"}};
}

} // namespace

ConfigStore::ConfigStore(
    config::Config config,
    std::filesystem::path file,
    limits::Registry& registry,
    net::Executor control,
    config::Environment environment)
    : file_{std::move(file)},
      environment_{std::move(environment)}, registry_{registry}, control_{std::move(control)},
      ticket_keys_{std::make_shared<tls::TicketKeys>(net::read_steady_clock())},
      in_force_{std::make_shared<const LoadedConfig>(LoadedConfig{std::move(config), {}, {}})} {}

const routing::UpstreamSpec* ConfigStore::upstream_named(std::string_view name) const noexcept {
    const auto& upstreams = *compiled().snapshot->upstreams;
    const auto found = std::ranges::find(upstreams, name, &routing::UpstreamSpec::name);
    return found == upstreams.end() ? nullptr : &*found;
}

std::uint64_t ConfigStore::generation() const noexcept {
    return compiled_.snapshot ? compiled_.snapshot->generation : 0;
}

Result<LoadedConfigPtr, config::ConfigErrors> ConfigStore::read_file() {
    if (auto fault = fault_of_pipe(file_))
        return std::move(*fault);
    ReadConfig read = read_config(file_, environment_);
    const bool has_errors = !read.attempt.errors.empty();
    try_files_of(read.attempt.config, std::move(read.file), has_errors);
    if (has_errors)
        return std::move(read.attempt.errors);
    return loaded(std::move(read.attempt.config));
}

Result<ConfigStore::ReadApart, config::ConfigErrors> ConfigStore::read_apart() const {
    if (auto fault = fault_of_pipe(file_))
        return std::move(*fault);
    auto text = config::read_text(file_);
    if (!text)
        return text.error();
    auto config = config::load_text(*text, file_, environment_);
    if (!config)
        return std::move(config).error();
    const auto tls = load_tls(*config, file_, in_force_->tls, ticket_keys_);
    if (!tls)
        return tls.error();
    const auto stores = store_settings(*config, *tls, file_, name_in_stores());
    if (!stores)
        return stores.error();
    return ReadApart{std::move(*config), std::move(*text)};
}

void ConfigStore::begin_with(FileContent read) {
    try_files_of(config(), std::move(read), false);
}

// Called before the files that the configuration names are read; `read` is read already. Their
// contents are needed if they are watched afterwards: by the `watch` of this configuration, or by
// that of the present one, if this one is not put in force.
void ConfigStore::try_files_of(const config::Config& config, FileContent read, bool has_errors) {
    tried_ = {{file_.string()}};
    if (config.watch || this->config().watch) {
        tried_ = files_read_by(config, file_, has_errors);
        read_contents(tried_);
    }
    tried_.front() = std::move(read);
}

Result<LoadedConfigPtr, config::ConfigErrors> ConfigStore::read_certificates() {
    return loaded(in_force_->config);
}

Result<LoadedConfigPtr, config::ConfigErrors> ConfigStore::loaded(config::Config config) {
    auto tls = load_tls(config, file_, in_force_->tls, ticket_keys_);
    if (!tls)
        return std::move(tls).error();
    auto stores = stores_of(config, *tls, file_, name_in_stores(), stores_);
    if (!stores)
        return std::move(stores).error();
    return std::make_shared<const LoadedConfig>(
        LoadedConfig{std::move(config), std::move(*tls), std::move(*stores)});
}

Compiled ConfigStore::compiled_from(
    const LoadedConfig& loaded, const LimitChanges& changes, std::uint64_t generation) {
    Compiled compiled = compile(
        loaded.config, registry_, slots_, generation, changes, loaded.tls, &endpoints_,
        loaded.stores);
    compiled.snapshot = destroyed_on(control_, std::move(compiled.snapshot));
    return compiled;
}

std::vector<ConfiguredLimit>
ConfigStore::change_limits(const std::set<std::string>& names, const LimitChanges& changes) {
    std::vector<ConfiguredLimit> changed;
    auto snapshot = std::make_shared<routing::Snapshot>(*compiled_.snapshot);
    for (const std::string& name : names) {
        const auto index = limit_named(name);
        if (!index)
            continue;
        CompiledLimit made = compile_limit(
            config().limits[*index], changes, registry_, slots_, in_force_->stores,
            longest_lease_of(config()));
        snapshot->limits[*index] = std::move(made.terms);
        changed.push_back(made.configured);
        compiled_.limits[*index] = std::move(made.configured);
    }
    compiled_.snapshot = destroyed_on(control_, std::move(snapshot));
    return changed;
}

void ConfigStore::put_in_force(LoadedConfigPtr loaded, Compiled compiled) {
    std::vector<limits::LimitPtr> kept;
    for (const ConfiguredLimit& each : compiled.limits)
        kept.push_back(each.limit);
    registry_.keep(std::move(kept));
    in_force_ = std::move(loaded);
    compiled_ = std::move(compiled);
    stores_.keep(in_force_->stores);
}

GatewayName ConfigStore::name_in_stores() const {
    return name_ ? *name_ : GatewayName{made_gateway_id(registry_.hasher())};
}

void ConfigStore::stop_stores() noexcept {
    stores_.keep({});
}

std::string
ConfigStore::refused_pair_in(const config::Config& next, const LimitChanges& changes) const {
    std::vector<bool> enforced = enforced_limits(next, changes);
    for (std::size_t i = 0; i < next.limits.size(); ++i) {
        if (!enforced[i] || next.limits[i].enforce)
            continue;
        const config::Limit& limit = next.limits[i];
        const auto former = limit_named(limit.name);
        enforced[i] =
            former && identity_of(config().limits[*former], config()) == identity_of(limit, next);
    }
    const std::vector<EnforcedPair> pairs = enforced_pairs(next, enforced);
    if (pairs.empty())
        return {};
    return reason_of(pairs.front(), next) +
           "; `enforce` of one was switched at run time, DELETE /limits/NAME/enforce ends that";
}

std::vector<ConfiguredLimit> ConfigStore::with_other_numbers(const Compiled& next) const {
    std::map<const limits::Limit*, const ConfiguredLimit*> before;
    for (const ConfiguredLimit& each : compiled_.limits)
        before.emplace(each.limit.get(), &each);
    std::vector<ConfiguredLimit> changed;
    for (const ConfiguredLimit& each : next.limits) {
        const auto known = before.find(each.limit.get());
        if (known != before.end() &&
            (known->second->numbers != each.numbers || known->second->rules != each.rules ||
             known->second->enforce != each.enforce))
            changed.push_back(each);
    }
    return changed;
}

} // namespace stint::runtime
