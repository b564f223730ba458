// From the files that a configuration names for TLS to what listeners and upstreams use.
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

// With what it was made of: it stays the same object while both stay the same, and with it the
// sessions that it remembers and the connections that are pooled.
template <class Settings, class Object>
struct MadeOf {
    Settings settings;
    FileStamps files; // as they were right before they were read
    std::shared_ptr<const Object> object;
};

struct TlsObjects {
    std::map<std::string, TlsServerPtr> listeners; // by address as configured; the others are plain
    TlsServerPtr admin;                            // nullptr: plain
    std::map<std::string, TlsClientPtr> upstreams; // by name; those with https endpoints
    std::vector<MadeOf<tls::ServerSettings, tls::Server>> servers;
    std::vector<MadeOf<tls::ClientSettings, tls::Client>> clients;
    std::vector<std::string> warnings; // of those that are new

    [[nodiscard]] FileStamps files() const;
    // When each certificate that clients are shown ends, by its file.
    [[nodiscard]] std::map<std::string, WallTime> expiries() const;
    // Those of the upstream's endpoints and of this listener; nullptr: plain.
    [[nodiscard]] TlsClientPtr upstream(const std::string& name) const;
    [[nodiscard]] TlsServerPtr listener(const std::string& address) const;
};

// Reads the files, but takes from `former` what has not changed. Mistakes name `file` and the place
// in it where the file with the mistake is named.
[[nodiscard]] Result<TlsObjects, config::ConfigErrors> load_tls(
    const config::Config& config,
    const std::filesystem::path& file,
    const TlsObjects& former,
    const std::shared_ptr<tls::TicketKeys>& keys);

// What is wrong with the files, for who only wants to know.
[[nodiscard]] config::ConfigErrors
tls_mistakes(const config::Config& config, const std::filesystem::path& file);

} // namespace stint::runtime
