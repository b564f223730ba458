// A request that is built from a description instead of read from a connection, and parsed by the
// same parser.
#pragma once

#include "base/error.hpp"
#include "http/head_parser.hpp"
#include "routing/client_address.hpp"
#include "routing/key_template.hpp"
#include "routing/snapshot.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

struct SyntheticRequest {
    std::string method = "GET";
    std::string target = "/"; // with the query
    std::string host;         // empty means HTTP/1.0 without a Host field
    std::string client;       // client address; empty means none, as on a Unix socket
    std::string tls_subject;  // RFC 2253 subject of the client certificate; empty means none
    std::vector<std::pair<std::string, std::string>> fields;
};

// Parses synthetic requests, one at a time. Reusable; not thread-safe.
class RequestReader {
  public:
    RequestReader();

    // The parsed request. Valid until the next read(), and while the arguments of read() live.
    struct Seen {
        RequestHead head;
        routing::KeyFacts facts; // without host, path and route, which the caller sets
    };
    // Parses the request. The error is the status that a client would get. Ignores the fields Host,
    // Content-Length, Transfer-Encoding and Connection of `request`.
    [[nodiscard]] Result<Seen, http::HeadError> read(
        const SyntheticRequest& request,
        const routing::Snapshot& snapshot,
        const KeyHasher& hasher);

  private:
    http::HeadParser parser_;
    std::string head_;
    std::optional<routing::ClientAddress> client_;
};

} // namespace stint::runtime
