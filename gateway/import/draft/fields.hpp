// Translates header fields, redirects and texts of nginx with their variables.
#pragma once

#include "import/draft/yaml.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::import_nginx {

// Returns why a header beyond config::most_edits is left out, to be written behind its name.
[[nodiscard]] std::string one_too_many();

// The keys of a route that proxy_set_header sets.
struct RequestFields {
    Node set = Node::map();
    Node removed = Node::list();
    std::string host;      // the key `host` of the route; "": none
    std::string host_note; // where that is not what nginx sends; "": it is
    bool upgrade = false;
};

struct FieldContext {
    std::string default_host;  // $proxy_host
    std::string server;        // the first name of the server
    std::string client_header; // client_ip_header in lower case; "" without trusted_proxies
};

[[nodiscard]] RequestFields
request_fields(const Settings& settings, const FieldContext& context, Report& report);

// The set_headers and remove_headers of the response.
[[nodiscard]] Node response_node(const Settings& settings, Report& report);

// Returns what add_header adds to an answer that nginx gives itself with this status.
[[nodiscard]] Node answer_headers(const Settings& settings, std::uint64_t status, Report& report);
// Reports the headers that a redirect lacks.
void lose_headers(const Settings& settings, Report& report);

// Where a server is reached, for redirects to "$scheme://".
enum class Scheme : std::uint8_t { http, https, both };

// Returns the target of a redirect with Stint's placeholders; "" if it has none for a variable.
[[nodiscard]] std::string
redirect_target(std::string_view text, const std::string& server, Scheme scheme);

// Returns a text with Stint's placeholders in a body. Sets `whole` to false, and leaves out a
// variable, for which there is none.
[[nodiscard]] std::string body_text(std::string_view text, const std::string& server, bool& whole);

} // namespace stint::import_nginx
