// From a request to a limiter key.
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

// What of a request a key may be made of. Views of the request, good for the call alone.
struct KeyFacts {
    const ClientAddress& client;
    const KeyHasher& hasher;
    std::span<const Field> fields{};
    std::string_view query{}; // as sent, without the "?"
    std::string_view host{};  // normalised, as routes are matched with it
    std::string_view path{};  // normalised too
    std::string_view method{};
    std::string_view route{};       // its name
    std::string_view tls_subject{}; // of the client's verified certificate; empty = none
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
        permit_key // of who takes a permit; no request has it
    };
    Kind kind = Kind::client_ip;
    std::string name; // of the header (lower case), cookie, parameter or claim

    friend bool operator==(const KeySource&, const KeySource&) = default;
};

struct Key {
    Hash128 hash; // of an empty text where the key is missing: all such share it
    // What the hash stands for, canonically: two keys of one template are the same exactly if their
    // texts are. May hold any bytes and be long. Good until the scratch changes or the facts end.
    std::string_view text;
    bool missing = false; // the request has no such value, or an empty or malformed one
};

// What a limit is keyed by: nothing, one source, or several together. Immutable.
//
// A key's text is its value; that of a client address its network ("2001:db8::/64"), without the
// prefix where that is the whole address. Several values are joined by "|", with "%" and "|" in
// them written as "%25" and "%7C", so that ("a|b", "c") and ("a", "b|c") differ. A key of which one
// part is missing is missing.
class KeyTemplate {
  public:
    KeyTemplate() = default;
    explicit KeyTemplate(std::vector<KeySource> sources, AddressPrefixes prefixes = {});

    [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
    // The canonical text, part of a limit's identity: "", "client_ip", "client_ip(24,56)" with
    // prefixes that are not the default ones, "host|header:x-key".
    [[nodiscard]] std::string text() const;
    // Allocates nothing once `scratch` has grown to what requests bring. An empty template has one
    // key for all. A client's address alone is not hashed here while it has the default prefixes.
    [[nodiscard]] Key evaluate(const KeyFacts& facts, std::string& scratch) const;
    // The hash of the key with this text; an address alone may be given for its network. Nothing
    // where no request could have such a key: a client address that is none.
    [[nodiscard]] std::optional<Hash128>
    hash_of(std::string_view text, const KeyHasher& hasher) const;
    // The same text as evaluate() would spell it; nothing as above.
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
