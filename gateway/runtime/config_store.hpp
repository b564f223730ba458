// The configuration in force: its file, its TLS objects and its compiled form.
#pragma once

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "limits/registry.hpp"
#include "net/types.hpp"
#include "observe/metrics.hpp"
#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/tls_objects.hpp"
#include "runtime/watch/file_contents.hpp"
#include "tls/ticket_keys.hpp"
#include "upstream/endpoint_group.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// A configuration with the TLS objects of its files, and its stores.
struct LoadedConfig {
    config::Config config;
    TlsObjects tls;
    SharedStores stores;
};
using LoadedConfigPtr = std::shared_ptr<const LoadedConfig>;

// Reads and compiles configurations, and keeps the configuration in force. Also keeps the state
// that outlives a reload: metric slots, endpoint state and TLS session-ticket keys. Used by the
// control thread alone.
class ConfigStore {
  public:
    // Puts `config` in force at once, without compiling it. registry: must outlive this object.
    // control: destroys snapshots (destroyed_on()). environment: for read_file().
    ConfigStore(
        config::Config config,
        std::filesystem::path file,
        limits::Registry& registry,
        net::Executor control,
        config::Environment environment = {});

    [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
    [[nodiscard]] const LoadedConfigPtr& in_force() const noexcept { return in_force_; }
    [[nodiscard]] const config::Config& config() const noexcept { return in_force_->config; }
    [[nodiscard]] const Compiled& compiled() const noexcept { return compiled_; }
    [[nodiscard]] const observe::MetricSlots& slots() const noexcept { return slots_; }
    [[nodiscard]] const std::shared_ptr<tls::TicketKeys>& ticket_keys() const noexcept {
        return ticket_keys_;
    }
    // Returns the limit's index in config().limits and compiled().limits; nullopt if there is no
    // such limit.
    [[nodiscard]] std::optional<std::size_t> limit_named(std::string_view name) const noexcept {
        return compiled_.limit_named(name);
    }
    // Returns nullptr if there is no upstream of that name.
    [[nodiscard]] const routing::UpstreamSpec* upstream_named(std::string_view name) const noexcept;
    // Returns the number of the configuration in force, counted from 1; 0 if none has been compiled
    // yet.
    [[nodiscard]] std::uint64_t generation() const noexcept;

    // Reads the configuration file and the TLS files that it names, or returns every error. Reuses
    // the TLS objects in force whose files and settings have not changed. Sets tried().
    [[nodiscard]] Result<LoadedConfigPtr, config::ConfigErrors> read_file();
    // A configuration that was read for a look, with the text of its file.
    struct ReadApart {
        config::Config config;
        std::string text;
    };
    // Reads what read_file() reads, and returns the same errors, but changes nothing.
    [[nodiscard]] Result<ReadApart, config::ConfigErrors> read_apart() const;
    // Reads only the TLS files again, for the configuration in force.
    [[nodiscard]] Result<LoadedConfigPtr, config::ConfigErrors> read_certificates();

    // Sets tried() for the configuration that the constructor has got, before its TLS files are
    // read. read: the configuration file as it was loaded.
    void begin_with(FileContent read);
    // Returns the files that the last read_file() or begin_with() was about, and what was in them
    // when, or right before, they were read. Of a faulty configuration they are those that it
    // names, which may not be there. If neither it nor the one in force has `watch`, it is the
    // configuration file alone.
    [[nodiscard]] const FileContents& tried() const noexcept { return tried_; }

    // Compiles a configuration without putting it in force. Existing limits and endpoints keep
    // their state. Routes, limits and upstreams without a metric slot get one.
    [[nodiscard]] Compiled compiled_from(
        const LoadedConfig& loaded, const LimitChanges& changes, std::uint64_t generation);

    // Compiles limits of the configuration in force again, with the changes, and puts them in force
    // in a new snapshot: compiled().snapshot, which shares everything else with the former one. The
    // time does not depend on the number of routes. Returns the compiled limits. names: of the
    // limits; a name of no limit has no effect.
    std::vector<ConfiguredLimit>
    change_limits(const std::set<std::string>& names, const LimitChanges& changes);

    // Replaces the configuration in force. A limit that the new one does not name lives on until
    // the last request that holds it has ended.
    void put_in_force(LoadedConfigPtr loaded, Compiled compiled);
    // Starts the stores of a configuration before it is put in force.
    void start_stores(const LoadedConfig& loaded) { stores_.keep(loaded.stores); }
    // Returns this gateway's name in the stores: by default one without upgrades.
    [[nodiscard]] GatewayName name_in_stores() const;
    void use_name_in_stores(GatewayName name) { name_ = std::move(name); }
    // Stops the stores, which return this gateway's shares of limits. Call it before the workers
    // end, because the stores post answers to them.
    void stop_stores() noexcept;

    // Returns an error if `next` has two limits on a route that may not both be enforced
    // (enforced_pairs.hpp), but are because an operator has switched `enforce` on; else "". Ignores
    // switches that the reload would end. The error says how to end the switch.
    [[nodiscard]] std::string
    refused_pair_in(const config::Config& next, const LimitChanges& changes) const;
    // Returns the limits of `next` whose quota, burst, per-key rules or enforcement may differ from
    // those in force.
    [[nodiscard]] std::vector<ConfiguredLimit> with_other_numbers(const Compiled& next) const;

  private:
    [[nodiscard]] Result<LoadedConfigPtr, config::ConfigErrors> loaded(config::Config config);
    void try_files_of(const config::Config& config, FileContent read, bool has_errors);

    const std::filesystem::path file_;
    const config::Environment environment_;
    limits::Registry& registry_;
    const net::Executor control_;
    upstream::EndpointRegistry endpoints_;
    stores::StoreRegistry stores_;
    std::optional<GatewayName> name_;
    observe::MetricSlots slots_;
    const std::shared_ptr<tls::TicketKeys> ticket_keys_;
    LoadedConfigPtr in_force_;
    Compiled compiled_;
    FileContents tried_;
};

} // namespace stint::runtime
