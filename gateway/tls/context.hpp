// An owner for OpenSSL's SSL_CTX, the settings that connections of one listener or upstream share.
#pragma once

#include <memory>

using SSL_CTX = struct ssl_ctx_st;

namespace stint::tls {

// Drops one reference. OpenSSL counts references: each connection holds the context that it was
// made from.
struct ContextDeleter {
    void operator()(SSL_CTX* context) const noexcept;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

} // namespace stint::tls
