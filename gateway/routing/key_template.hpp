// Builds the key of a limit from a request.
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

// The parts of a request that a key may be made of: views that are valid during the call only.
struct KeyFacts {
    const ClientAddress& client;
    const KeyHasher& hasher;
    std::span<const Field> fields{};
    std::string_view query{}; // as sent, without the "?"
    std::string_view host{};  // normalised, as for route matching
    std::string_view path{};  // normalised, as for route matching
    std::string_view method{};
    std::string_view route{};       // the route's name
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
        permit_key // a permit caller's "key"; a proxied request has none
    };
    Kind kind = Kind::client_ip;
    std::string name; // name of the header (lower case), cookie, parameter or claim

    friend bool operator==(const KeySource&, const KeySource&) = default;
};

struct Key {
    Hash128 hash; // hash of "" if the key is missing: all such requests share it
    // The canonical text that is hashed: two keys of one template are equal exactly if their texts
    // are. May hold any bytes and be long. Valid until the scratch changes or the facts end.
    std::string_view text;
    bool missing = false; // the request lacks the value, or it is empty or malformed
};

// The effect of a missing part on a key of several sources.
enum class MissingPart : std::uint8_t {
    loses_key, // the key is missing
    empty      // the part counts as empty; the key is missing only if all its parts are
};

// How a limit's key is made: of no source (one counter for all), of one source, or of several
// joined. Immutable.
//
// A key's text is the value of its source. For a client address that is its network
// ("2001:db8::/64"), without the prefix if the network is a single address. Several values are
// joined by "|", and "%" and "|" within them are written as "%25" and "%7C", so that ("a|b", "c")
// and ("a", "b|c") differ. A key with a missing part is missing, unless the template says
// MissingPart::empty.
class KeyTemplate {
  public:
    KeyTemplate() = default;
    explicit KeyTemplate(
        std::vector<KeySource> sources,
        AddressPrefixes prefixes = {},
        MissingPart missing_part = MissingPart::loses_key);

    [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
    // Returns the canonical text, part of a limit's identity: "", "client_ip", "client_ip(24,56)"
    // with prefixes that are not the default ones, "host|header:x-key". MissingPart is no part of
    // it: a key with all its parts is the same either way.
    [[nodiscard]] std::string text() const;
    // Computes the request's key. Allocates nothing once `scratch` has grown to the requests' size.
    // An empty template gives all requests the same key. The hash of a client address with the
    // default prefixes is taken from `facts.client`.
    [[nodiscard]] Key evaluate(const KeyFacts& facts, std::string& scratch) const;
    // Returns the hash of the key with this text. An address given for client_ip stands for its
    // network. Returns nullopt if no request can have such a key, for instance if the text for
    // client_ip is no address.
    [[nodiscard]] std::optional<Hash128>
    hash_of(std::string_view text, const KeyHasher& hasher) const;
    // Returns the key's text as evaluate() would spell it; nullopt if hash_of() returns nullopt.
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
    MissingPart missing_part_ = MissingPart::loses_key;
};

} // namespace stint::routing
