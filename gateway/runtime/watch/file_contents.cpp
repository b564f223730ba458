#include "runtime/watch/file_contents.hpp"

#include "base/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <utility>

namespace stint::runtime {
namespace {

constexpr std::size_t block_size = 64UL * 1024;

// A hash tells contents apart, and never leaves the process: its key is no secret.
const KeyHasher& content_hasher() {
    static const KeyHasher hasher{KeyHasher::Key{}};
    return hasher;
}

// Hashes a content of any size in blocks, all of which but the last are full.
class ContentHash {
  public:
    void add(std::string_view block) {
        std::string text(sizeof value, '\0');
        std::memcpy(text.data(), &value, sizeof value);
        value = content_hasher()(text.append(block));
    }
    Hash128 value = content_hasher()("");
};

class Files {
  public:
    void add(const std::string& path, bool tls = false) {
        if (!path.empty() && known.insert(path).second)
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

  private:
    std::unordered_set<std::string> known;
};

// Reads until the block is full, or the file ends. Returns nullopt for an error.
std::optional<std::size_t> read_block(int file, std::string& block) {
    std::size_t had = 0;
    while (had < block.size()) {
        const ssize_t read = ::read(file, block.data() + had, block.size() - had);
        if (read < 0 && errno == EINTR)
            continue;
        if (read < 0)
            return std::nullopt;
        if (read == 0)
            break;
        had += static_cast<std::size_t>(read);
    }
    return had;
}

std::optional<Hash128> hash_of(int file) {
    ContentHash hash;
    std::string block(block_size, '\0');
    for (;;) {
        const auto had = read_block(file, block);
        if (!had)
            return std::nullopt;
        if (*had > 0)
            hash.add(std::string_view{block}.substr(0, *had));
        if (*had < block.size())
            return hash.value;
    }
}

// Returns true if the error is about the file, rather than about this process, the memory or the
// disk, which say nothing of the file.
bool is_of_file(int error) {
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG ||
           error == EACCES || error == EPERM;
}

// O_NONBLOCK: what has just become a pipe must not hold up the control thread.
void read_content(FileContent& content) {
    struct stat status {};
    const bool exists = ::stat(content.path.c_str(), &status) == 0;
    if ((!exists && is_of_file(errno)) || (exists && S_ISDIR(status.st_mode)))
        content.hash.reset();
    if (!exists || !S_ISREG(status.st_mode))
        return;
    const Descriptor file{::open(content.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.get() < 0) {
        if (is_of_file(errno))
            content.hash.reset();
    } else if (const auto hash = hash_of(file.get())) {
        content.hash = hash;
    }
}

} // namespace

FileContents
files_read_by(const config::Config& config, const std::filesystem::path& file, bool has_errors) {
    Files found;
    found.add(file.string());
    for (const config::Listener& listener : config.listeners)
        if (listener.tls)
            found.add(*listener.tls);
    if (config.admin && config.admin->tls)
        found.add(*config.admin->tls);
    if (config.admin && has_errors) {
        found.add(config.admin->token_file);
        found.add(config.admin->read_token_file);
    }
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

Hash128 content_hash(std::string_view text) {
    ContentHash hash;
    for (; !text.empty(); text.remove_prefix(std::min(block_size, text.size())))
        hash.add(text.substr(0, block_size));
    return hash.value;
}

void read_contents(FileContents& files) {
    for (FileContent& each : files)
        read_content(each);
}

ReadConfig read_config(const std::filesystem::path& file, const config::Environment& environment) {
    FileContent content{file.string()};
    const auto text = config::read_text(file);
    if (!text)
        return {{{}, text.error()}, std::move(content)};
    if (text->size() <= config::largest_file)
        content.hash = content_hash(*text);
    else
        read_content(content); // only its beginning was read
    return {config::attempt_to_load(*text, file, environment), std::move(content)};
}

} // namespace stint::runtime
