// OpenSSL's SSL_CTX, which all connections of one kind share, and what belongs to it.
#pragma once

#include <memory>

using SSL_CTX = struct ssl_ctx_st;

namespace stint::tls {

// Reference-counted by OpenSSL: a connection holds the context that it came from.
struct ContextDeleter {
    void operator()(SSL_CTX* context) const noexcept;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

} // namespace stint::tls
