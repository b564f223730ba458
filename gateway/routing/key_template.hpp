// Builds a limiter key from a request.
#pragma once

#include "base/hash.hpp"
#include "base/message.hpp"
#include "routing/client_address.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stint::routing {

// The parts of a request that a key may be made of. Views of the request, valid during the call
// only.
struct KeyFacts {
    const ClientAddress& client;
    const KeyHasher& hasher;
    std::span<const Field> fields{};
    std::string_view query{}; // as sent, without the "?"
    std::string_view host{};  // normalised, as for route matching
    std::string_view path{};  // normalised too
    std::string_view method{};
    std::string_view route{};       // its name
    std::string_view tls_subject{}; // subject of the client's verified certificate; empty = none
};

// One part of a key.
struct KeySource {
    // In the order of config::KeySource::Kind.
    enum class Kind : std::uint8_t {
        client_ip,
        header,
        cookie,
        query,
        host,
        path,
        method,
        route,
        jwt,
        tls_subject,
        permit_key // given by the caller that acquires a permit; no proxied request has it
    };
    Kind kind = Kind::client_ip;
    std::string name; // the header's (lower case), cookie's, parameter's or claim's

    friend bool operator==(const KeySource&, const KeySource&) = default;
};

struct Key {
    Hash128 hash; // hash of "" if the key is missing: all such requests share it
    // The canonical text behind the hash: two keys of one template are the same exactly if their
    // texts are. May hold any bytes and be long. Valid until the scratch changes or the facts end.
    std::string_view text;
    bool missing = false; // the request has no such value, or an empty or malformed one
};

// The key of a limit: nothing, one source, or several together. Immutable.
//
// A key's text is its value; that of a client address its network ("2001:db8::/64"), without the
// prefix if that is the whole address. Several values are joined by "|", with "%" and "|" in them
// written as "%25" and "%7C", so that ("a|b", "c") and ("a", "b|c") differ. A key with a missing
// part is missing.
class KeyTemplate {
  public:
    KeyTemplate() = default;
    explicit KeyTemplate(std::vector<KeySource> sources, AddressPrefixes prefixes = {});

    [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
    // Returns the canonical text, part of a limit's identity: "", "client_ip", "client_ip(24,56)"
    // with prefixes that are not the default ones, "host|header:x-key".
    [[nodiscard]] std::string text() const;
    // Computes the request's key. Allocates nothing once `scratch` has grown to the requests' size.
    // An empty template has one key for all. A client's address alone is not hashed here while it
    // has the default prefixes.
    [[nodiscard]] Key evaluate(const KeyFacts& facts, std::string& scratch) const;
    // Returns the hash of the key with this text. For a client address, an address stands for its
    // network. Nothing if no request can have such a key, such as a client address that is no
    // address.
    [[nodiscard]] std::optional<Hash128>
    hash_of(std::string_view text, const KeyHasher& hasher) const;
    // Returns the text as evaluate() would spell it; nothing in the same cases.
    [[nodiscard]] std::optional<std::string> canonical(std::string_view text) const;

  private:
    [[nodiscard]] bool of_client_alone() const noexcept {
        return sources_.size() == 1 && sources_.front().kind == KeySource::Kind::client_ip;
    }
    [[nodiscard]] std::optional<Cidr> client_network(std::string_view text) const;
    [[nodiscard]] Key of_client(const KeyFacts& facts, std::string& scratch) const;
    [[nodiscard]] Key of_several(const KeyFacts& facts, std::string& scratch) const;

    std::vector<KeySource> sources_;
    AddressPrefixes prefixes_;
};

} // namespace stint::routing
