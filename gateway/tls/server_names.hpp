// Chooses the certificate by the name that a client requests (SNI, RFC 6066 section 3). Internal to
// tls/.
#pragma once

#include "tls/context.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stint::tls {

// A map from server names to contexts. If several contexts are added for a name, the first is used.
class ServerNames {
  public:
    // Adds a context for these names. names: lower case; the "*" of "*.shop.example" matches
    // exactly one label (RFC 6125 section 6.4.3).
    void add(const std::vector<std::string>& names, SSL_CTX& context);

    // Returns the context for the name, compared without case; nullptr if there is none.
    [[nodiscard]] SSL_CTX* find(std::string_view name) const;

  private:
    std::map<std::string, SSL_CTX*, std::less<>> exact_;
    // The key ".shop.example" stands for "*.shop.example".
    std::map<std::string, SSL_CTX*, std::less<>> wildcards_;
};

// The answer to a client's hello without a name, or with a name of no context.
enum class UnknownName : bool {
    standard, // the standard context serves it
    refused   // the handshake ends with the alert unrecognized_name (RFC 6066 section 3)
};

// Makes connections of `standard` switch to the context for the name in the client's hello. others:
// the contexts in `names` besides `standard`, which owns them from now on.
void choose_by_name(
    SSL_CTX& standard, ServerNames names, std::vector<ContextPtr> others, UnknownName unknown);

// Returns the context that serves a connection to `name`: standard, unless choose_by_name() was
// called for it and the name is another one's; nullptr if the name is refused.
[[nodiscard]] SSL_CTX* context_for(SSL_CTX& standard, std::string_view name);

} // namespace stint::tls
