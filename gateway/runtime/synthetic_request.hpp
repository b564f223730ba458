// A request that did not come over a connection, read by the parser of real ones.
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
    std::string target = "/"; // with its query
    std::string host;         // empty: HTTP/1.0 without Host
    std::string client;       // client address; empty: none, as on a Unix socket
    std::string tls_subject;  // subject of the client's certificate, as in RFC 2253; empty: none
    std::vector<std::pair<std::string, std::string>> fields;
};

// Reusable; not thread-safe.
class RequestReader {
  public:
    RequestReader();

    // The result; valid until the next call, as long as `request` and `snapshot` are.
    struct Seen {
        RequestHead head;
        routing::KeyFacts facts; // but host, path and route
    };
    // Parses the request. The error is the answer that a client would get. Fields that frame the
    // body are left out.
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
