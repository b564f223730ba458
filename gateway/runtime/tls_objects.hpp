// Loads the TLS files of a configuration for listeners and upstreams.
#pragma once

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "runtime/file_stamps.hpp"
#include "runtime/watch/file_contents.hpp"
#include "tls/client.hpp"
#include "tls/server.hpp"
#include "tls/ticket_keys.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stint::runtime {

using TlsServerPtr = std::shared_ptr<const tls::Server>;
using TlsClientPtr = std::shared_ptr<const tls::Client>;

// A TLS object with the settings and the contents it was made from. While both stay the same, the
// object is reused, with its cached sessions and pooled connections.
template <class Settings, class Object>
struct MadeOf {
    Settings settings;
    FileStamps files;      // stamps taken before the files were read
    FileContents contents; // likewise; they tell whether the object is still that of its files
    std::shared_ptr<const Object> object;
};

struct TlsObjects {
    // By configured address. A listener without an entry is plaintext.
    std::map<std::string, TlsServerPtr> listeners;
    TlsServerPtr admin;                            // nullptr if the admin listener is plaintext
    std::map<std::string, TlsClientPtr> upstreams; // key: name of an upstream with https endpoints
    std::map<std::string, TlsClientPtr> stores;    // key: name of a store with TLS
    std::map<std::string, TlsClientPtr> sentinels; // key: name of a store with TLS to its Sentinels
    std::vector<MadeOf<tls::ServerSettings, tls::Server>> servers;
    std::vector<MadeOf<tls::ClientSettings, tls::Client>> clients;
    std::vector<std::string> warnings; // about objects that were newly made

    [[nodiscard]] FileStamps files() const;
    // Returns the expiry of each server certificate, by the file that has it.
    [[nodiscard]] std::map<std::string, WallTime> expiries() const;
    // Return the TLS object of an upstream, a store, its Sentinels or a listener; nullptr means
    // plaintext.
    [[nodiscard]] TlsClientPtr upstream(const std::string& name) const;
    [[nodiscard]] TlsClientPtr store(const std::string& name) const;
    [[nodiscard]] TlsClientPtr sentinel(const std::string& store) const;
    [[nodiscard]] TlsServerPtr listener(const std::string& address) const;
};

// Reads the TLS files of the configuration, but reuses unchanged objects of `former`. An error has
// the place in `file`, the configuration file, that names the faulty TLS file.
[[nodiscard]] Result<TlsObjects, config::ConfigErrors> load_tls(
    const config::Config& config,
    const std::filesystem::path& file,
    const TlsObjects& former,
    const std::shared_ptr<tls::TicketKeys>& keys);

// Returns the errors in the TLS files, for callers that only validate a configuration.
[[nodiscard]] config::ConfigErrors
tls_mistakes(const config::Config& config, const std::filesystem::path& file);

} // namespace stint::runtime
