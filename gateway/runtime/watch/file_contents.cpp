#include "runtime/watch/file_contents.hpp"

#include "base/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace stint::runtime {
namespace {

constexpr std::size_t most_read = 16U << 20U;

// A hash tells contents apart, and never leaves the process: its key is no secret.
const KeyHasher& content_hasher() {
    static const KeyHasher hasher{KeyHasher::Key{}};
    return hasher;
}

class Files {
  public:
    void add(const std::string& path, bool tls = false) {
        const auto same = [&](const FileContent& each) { return each.path == path; };
        if (!path.empty() && std::ranges::none_of(files, same))
            files.push_back({path, tls});
    }
    void add(const config::Tls& tls) {
        for (const config::Certificate& each : tls.certificates)
            for (const std::string* path : {&each.certificate, &each.key, &each.ocsp_staple})
                add(*path, true);
        add(tls.client_ca, true);
    }
    void add(const config::UpstreamTls& tls) {
        for (const std::string* path : {&tls.ca, &tls.crl, &tls.certificate, &tls.key})
            add(*path, true);
    }
    void add(const config::Store& store) {
        add(store.password_file);
        add(store.secret_file);
        if (store.tls)
            add(*store.tls);
        if (!store.sentinel)
            return;
        add(store.sentinel->password_file);
        if (store.sentinel->tls)
            add(*store.sentinel->tls);
    }

    FileContents files;
};

// O_NONBLOCK: a pipe in the file's place must not hold up the control thread.
std::optional<Hash128> hash_of(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    std::string text;
    for (;;) {
        constexpr std::size_t block = 64UL * 1024;
        const std::size_t had = text.size();
        text.resize(had + block);
        const ssize_t read = ::read(file.get(), text.data() + had, block);
        text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
        if (read < 0 && errno == EINTR)
            continue;
        if (read < 0)
            return std::nullopt;
        if (read == 0 || text.size() > most_read)
            break;
    }
    if (text.size() > most_read)
        text.append(std::to_string(status.st_size));
    return content_hasher()(text);
}

} // namespace

FileContents files_read_by(const config::Config& config, const std::filesystem::path& file) {
    Files found;
    found.add(file.string());
    if (!config.watch)
        return std::move(found.files);
    for (const config::Listener& listener : config.listeners)
        if (listener.tls)
            found.add(*listener.tls);
    if (config.admin && config.admin->tls)
        found.add(*config.admin->tls);
    if (config.permits) {
        found.add(config.permits->token_file);
        if (config.permits->tls)
            found.add(*config.permits->tls);
    }
    for (const config::Upstream& upstream : config.upstreams)
        found.add(upstream.tls);
    for (const config::Store& store : config.stores)
        found.add(store);
    return std::move(found.files);
}

void read_contents(FileContents& files) {
    for (FileContent& each : files)
        each.hash = hash_of(each.path);
}

} // namespace stint::runtime
