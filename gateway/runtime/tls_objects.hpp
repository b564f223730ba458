// Loads the TLS files of a configuration for listeners and upstreams.
#pragma once

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"
#include "runtime/file_stamps.hpp"
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

// A TLS object with the settings and files it was made from. While both stay the same, the object
// is reused, with its cached sessions and pooled connections.
template <class Settings, class Object>
struct MadeOf {
    Settings settings;
    FileStamps files; // stamps taken right before the files were read
    std::shared_ptr<const Object> object;
};

struct TlsObjects {
    std::map<std::string, TlsServerPtr> listeners; // by address as configured; the others are plain
    TlsServerPtr admin;                            // nullptr: plain
    std::map<std::string, TlsClientPtr> upstreams; // by name; those with https endpoints
    std::vector<MadeOf<tls::ServerSettings, tls::Server>> servers;
    std::vector<MadeOf<tls::ClientSettings, tls::Client>> clients;
    std::vector<std::string> warnings; // about the new ones

    [[nodiscard]] FileStamps files() const;
    // Returns the expiry of each certificate that clients see, by its file.
    [[nodiscard]] std::map<std::string, WallTime> expiries() const;
    // Return the object for the upstream's endpoints or this listener; nullptr: plain.
    [[nodiscard]] TlsClientPtr upstream(const std::string& name) const;
    [[nodiscard]] TlsServerPtr listener(const std::string& address) const;
};

// Reads the files, but reuses unchanged objects of `former`. Errors name `file` and the place in it
// that names the faulty file.
[[nodiscard]] Result<TlsObjects, config::ConfigErrors> load_tls(
    const config::Config& config,
    const std::filesystem::path& file,
    const TlsObjects& former,
    const std::shared_ptr<tls::TicketKeys>& keys);

// Returns the errors in the files, for callers that only validate.
[[nodiscard]] config::ConfigErrors
tls_mistakes(const config::Config& config, const std::filesystem::path& file);

} // namespace stint::runtime
