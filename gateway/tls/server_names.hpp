// Choice of the certificate by the name that a client asks for (SNI, RFC 6066 section 3). Internal
// to tls/.
#pragma once

#include "tls/context.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stint::tls {

// Contexts by name. The first context that claims a name gets it.
class ServerNames {
  public:
    // names: lower case; "*.shop.example" stands for one more label (RFC 6125 section 6.4.3).
    void add(const std::vector<std::string>& names, SSL_CTX& context);

    // Returns the context that was added for the name, whatever its letter case; nullptr: none.
    [[nodiscard]] SSL_CTX* find(std::string_view name) const;

  private:
    std::map<std::string, SSL_CTX*, std::less<>> exact_;
    std::map<std::string, SSL_CTX*, std::less<>> wildcards_; // by ".shop.example"
};

// Switches connections of `standard` to the context of the name in their hello; `standard` owns the
// others from now on.
void choose_by_name(SSL_CTX& standard, ServerNames names, std::vector<ContextPtr> others);

} // namespace stint::tls
