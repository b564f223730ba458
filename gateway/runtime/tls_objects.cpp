#include "runtime/tls_objects.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace stint::runtime {
namespace {

tls::ServerSettings settings_of(const config::Tls& tls, bool http2) {
    using From = config::Tls::ClientCertificate;
    using To = tls::ServerSettings::ClientCertificate;
    tls::ServerSettings settings;
    for (const config::Certificate& each : tls.certificates)
        settings.certificates.push_back({each.certificate, each.key, each.ocsp_staple});
    settings.min_version = tls.only_1_3 ? tls::Version::tls_1_3 : tls::Version::tls_1_2;
    settings.ciphers = tls.ciphers;
    settings.client_ca = tls.client_ca;
    settings.refuses_unknown_names = tls.refuses_unknown_names;
    settings.http2 = http2;
    if (tls.client_certificate != From::none)
        settings.client_certificate =
            tls.client_certificate == From::require ? To::required : To::optional;
    return settings;
}

tls::ClientSettings settings_of(const config::UpstreamTls& tls) {
    return {
        .ca = tls.ca,
        .crl = tls.crl,
        .verify = tls.verify,
        .certificate = tls.certificate,
        .key = tls.key};
}

std::vector<std::string> files_of(const tls::ServerSettings& settings) {
    std::vector<std::string> files{settings.client_ca};
    for (const tls::KeyPair& pair : settings.certificates)
        files.insert(files.end(), {pair.certificate, pair.key, pair.ocsp_staple});
    return files;
}

std::vector<std::string> files_of(const tls::ClientSettings& settings) {
    return {settings.ca, settings.crl, settings.certificate, settings.key};
}

// Returns the place in the configuration that names the file with which the error message begins;
// else the place of the `tls` section.
config::Place place_of(const config::Tls& tls, std::string_view mistake) {
    for (const config::Certificate& each : tls.certificates)
        for (const std::string* file : {&each.certificate, &each.key, &each.ocsp_staple})
            if (!file->empty() && mistake.starts_with(*file + " "))
                return each.place;
    return tls.place;
}

class Loading {
  public:
    Loading(
        const std::filesystem::path& file,
        const TlsObjects& former,
        const std::shared_ptr<tls::TicketKeys>& keys)
        : file_{file.string()}, former_{former}, keys_{keys} {}

    TlsServerPtr server(const config::Tls& tls, bool http2) {
        auto made = obtain(
            settings_of(tls, http2), former_.servers, objects.servers,
            [&](const tls::ServerSettings& settings) {
                auto server = tls::Server::make(settings, keys_);
                if (server)
                    objects.warnings.insert(
                        objects.warnings.end(), (*server)->warnings().begin(),
                        (*server)->warnings().end());
                return server;
            });
        if (!made)
            add(place_of(tls, made.error()), made.error());
        return made ? *made : nullptr;
    }

    TlsClientPtr client(const config::UpstreamTls& tls) {
        auto made = obtain(settings_of(tls), former_.clients, objects.clients, tls::Client::make);
        if (!made)
            add(tls.place, made.error());
        return made ? *made : nullptr;
    }

    TlsObjects objects;
    config::ConfigErrors mistakes;

  private:
    template <class Settings, class Object, class Make>
    Result<std::shared_ptr<const Object>, std::string> obtain(
        Settings settings,
        const std::vector<MadeOf<Settings, Object>>& former,
        std::vector<MadeOf<Settings, Object>>& now,
        Make make) {
        const std::vector<std::string> names = files_of(settings);
        FileStamps files = stamps_of(names);
        FileContents contents = contents_of(names);
        const bool known =
            std::ranges::all_of(contents, [](const auto& each) { return each.hash.has_value(); });
        const auto same = [&](const auto& each) {
            return known && each.settings == settings && each.contents == contents;
        };
        if (const auto at = std::ranges::find_if(now, same); at != now.end())
            return at->object;
        if (const auto at = std::ranges::find_if(former, same); at != former.end()) {
            // With the stamps of now: by those before, CertificateWatcher would see a change again.
            now.push_back({std::move(settings), std::move(files), std::move(contents), at->object});
            return at->object;
        }
        auto made = make(settings);
        if (made)
            now.push_back({std::move(settings), std::move(files), std::move(contents), *made});
        return made;
    }

    // Reads each file once, as many upstreams may name the same one.
    FileContents contents_of(const std::vector<std::string>& names) {
        FileContents contents;
        for (const std::string& name : names) {
            if (name.empty())
                continue;
            const auto [at, is_new] = contents_.try_emplace(name);
            if (is_new) {
                FileContents one{{name, true}};
                read_contents(one);
                at->second = one.front().hash;
            }
            contents.push_back({name, true, at->second});
        }
        return contents;
    }

    void add(const config::Place& place, const std::string& message) {
        mistakes.push_back({file_, place.line, place.column, message});
    }

    const std::string file_;
    const TlsObjects& former_;
    const std::shared_ptr<tls::TicketKeys>& keys_;
    std::map<std::string, std::optional<Hash128>> contents_;
};

bool is_https(const config::Upstream& upstream) {
    return std::ranges::any_of(upstream.endpoints, &config::Endpoint::tls);
}

template <class Pointer>
Pointer find(const std::map<std::string, Pointer>& objects, const std::string& name) {
    const auto found = objects.find(name);
    return found != objects.end() ? found->second : nullptr;
}

} // namespace

FileStamps TlsObjects::files() const {
    FileStamps all;
    for (const auto& each : servers)
        all.insert(all.end(), each.files.begin(), each.files.end());
    for (const auto& each : clients)
        all.insert(all.end(), each.files.begin(), each.files.end());
    return all;
}

std::map<std::string, WallTime> TlsObjects::expiries() const {
    std::map<std::string, WallTime> ends;
    for (const auto& each : servers)
        for (const tls::Server::Expiry& expiry : each.object->expiries())
            ends.insert_or_assign(expiry.file, expiry.at);
    return ends;
}

TlsClientPtr TlsObjects::upstream(const std::string& name) const {
    return find(upstreams, name);
}

TlsClientPtr TlsObjects::store(const std::string& name) const {
    return find(stores, name);
}

TlsClientPtr TlsObjects::sentinel(const std::string& store) const {
    return find(sentinels, store);
}

TlsServerPtr TlsObjects::listener(const std::string& address) const {
    return find(listeners, address);
}

Result<TlsObjects, config::ConfigErrors> load_tls(
    const config::Config& config,
    const std::filesystem::path& file,
    const TlsObjects& former,
    const std::shared_ptr<tls::TicketKeys>& keys) {
    Loading loading{file, former, keys};
    for (const config::Listener& listener : config.listeners)
        if (listener.tls)
            loading.objects.listeners[listener.address.text] =
                loading.server(*listener.tls, listener.http2.offered);
    if (config.permits && config.permits->tls)
        loading.objects.listeners[config.permits->address.text] =
            loading.server(*config.permits->tls, config.permits->http2.offered);
    if (config.admin && config.admin->tls)
        loading.objects.admin = loading.server(*config.admin->tls, config.admin->http2.offered);
    for (const config::Upstream& upstream : config.upstreams)
        if (is_https(upstream))
            loading.objects.upstreams[upstream.name] = loading.client(upstream.tls);
    for (const config::Store& store : config.stores) {
        if (store.tls)
            loading.objects.stores[store.name] = loading.client(*store.tls);
        if (store.sentinel && store.sentinel->tls)
            loading.objects.sentinels[store.name] = loading.client(*store.sentinel->tls);
    }
    if (!loading.mistakes.empty())
        return std::move(loading.mistakes);
    return std::move(loading.objects);
}

config::ConfigErrors tls_mistakes(const config::Config& config, const std::filesystem::path& file) {
    const auto keys = std::make_shared<tls::TicketKeys>(SteadyTime{});
    auto loaded = load_tls(config, file, {}, keys);
    return loaded ? config::ConfigErrors{} : std::move(loaded.error());
}

} // namespace stint::runtime
