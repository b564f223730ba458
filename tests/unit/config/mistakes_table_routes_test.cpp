// Mistakes in upstreams and routes, as a table.
#include "mistakes_table.hpp"

namespace stint::config {

namespace {

constexpr MistakeRow route_rows[] = {
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: [127.0.0.1:9000]}\nroutes: []\n",
     "2:19: upstreams.shop: found a list; expected a map such as {endpoints: [127.0.0.1:9000]}"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: "
     "127.0.0.1:9000}}\nroutes: []\n",
     "2:31: upstreams.shop.endpoints: found the value \"127.0.0.1:9000\"; expected a list of "
     "endpoints such as [127.0.0.1:9000]"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: []}}\nroutes: []\n",
     "2:31: upstreams.shop.endpoints: is empty; expected at least one endpoint such as "
     "127.0.0.1:9000"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: "
     "[https://shop.example], tls: {ca: /nowhere/ca.pem}}}\nroutes: []\n",
     "2:65: upstreams.shop.tls.ca: \"/nowhere/ca.pem\" does not exist; expected a file, whose path "
     "is absolute or begins in the folder of the configuration"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: [127.0.0.1]}}\nroutes: "
     "[]\n",
     "2:32: upstreams.shop.endpoints[0]: \"127.0.0.1\" has no port; expected IPv4:port, "
     "\"[IPv6]:port\", name:port, unix:/path or https://name"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: "
     "[\"http://shop.example/api\"]}}\nroutes: []\n",
     "2:32: upstreams.shop.endpoints[0]: \"http://shop.example/api\" has a path or an unknown "
     "scheme; expected IPv4:port, \"[IPv6]:port\", name:port, unix:/path or https://name"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: [127.0.0.1:9000, "
     "127.0.0.1:9000]}}\nroutes: []\n",
     "2:48: upstreams.shop.endpoints[1]: \"127.0.0.1:9000\" is listed already; remove one"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: [127.0.0.1:9000], "
     "balance: roundrobin}}\nroutes: []\n",
     "2:58: upstreams.shop.balance: \"roundrobin\" is unknown; did you mean \"round_robin\"?"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: [127.0.0.1:9000], "
     "health: /healthz}}\nroutes: []\n",
     "2:57: upstreams.shop.health: found the value \"/healthz\"; expected a map such as {path: "
     "/healthz}"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: {shop: {endpoints: [{address: "
     "127.0.0.1:9000, weight: 0}]}}\nroutes: []\n",
     "2:66: upstreams.shop.endpoints[0].weight: \"0\" is zero; expected a whole number from 1 to "
     "1000"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080}]\nupstreams: [{name: shop, endpoints: "
     "[127.0.0.1:9000]}]\nroutes: []\n",
     "2:12: upstreams: found a list; expected a map of upstreams by name such as {shop: "
     "{endpoints: [127.0.0.1:9000]}}"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shpo}]\n",
     "3:30: routes[0].upstream: \"shpo\" is not an upstream; did you mean \"shop\"?"},
    {MistakeRow::after_base, "routes: [{name: r}]\n",
     "3:10: routes[0]: upstream is missing; expected the name of an upstream, or respond or "
     "redirect"},
    {MistakeRow::after_base, "routes: {name: r, upstream: shop}\n",
     "3:9: routes: found a map; expected a list of routes such as [{name: shop, upstream: shop}]"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, path: /a}]\n",
     "3:36: routes[0].path: unknown key; what a route matches is in its match: match: {host: "
     "shop.example, path: /shop}"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, listen: 80}]\n",
     "3:36: routes[0].listen: unknown key; clients connect to listeners at the top level: "
     "listeners: [{address: 0.0.0.0:8080}]"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {path: shop}}]\n",
     "3:50: routes[0].match.path: \"shop\" does not begin with \"/\"; did you mean \"/shop\"?"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {path_regex: \"^/a(\"}}]\n",
     "3:56: routes[0].match.path_regex: \"^/a(\" is not a regular expression: missing ): ^/a(; "
     "expected one in the syntax of RE2, which has no look-around"},
    {MistakeRow::after_base,
     "routes: [{name: r, upstream: shop, match: {path_regex: \"/a(?=b)\"}}]\n",
     "3:56: routes[0].match.path_regex: \"/a(?=b)\" is not a regular expression: invalid perl "
     "operator: (?=; expected one in the syntax of RE2, which has no look-around"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {methods: GET}}]\n",
     "3:53: routes[0].match.methods: found the value \"GET\"; expected a list such as [GET, HEAD]"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {methods: [get]}}]\n",
     "3:54: routes[0].match.methods[0]: \"get\" is not a method: their names are upper-case; did "
     "you mean \"GET\"?"},
    {MistakeRow::after_base,
     "routes: [{name: r, upstream: shop, match: {host: \"shop.example:8080\"}}]\n",
     "3:50: routes[0].match.host: \"shop.example:8080\" has a port; expected a host such as "
     "shop.example, *.example for all below it, or * for any"},
    {MistakeRow::after_base,
     "routes: [{name: r, upstream: shop}, {name: r, upstream: shop, match: {path: /b}}]\n",
     "3:37: routes[1]: the name \"r\" is taken by the route on line 3; expected another name"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, retry: 3}]\n",
     "3:43: routes[0].retry: \"3\" is unknown; expected on, off or a map such as {attempts: 3, on: "
     "[connect, 503]}"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, retry: {on: [5xx]}}]\n",
     "3:49: routes[0].retry.on[0]: \"5xx\" is nothing to retry on; expected connect, reset or a "
     "status from 500 to 599"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, cooldown: true}]\n",
     "3:46: routes[0].cooldown: \"true\" is unknown; expected on, off or a map such as {scope: "
     "host, max_cooldown: 30s}; did you mean \"on\"?"},
    {MistakeRow::after_base,
     "routes: [{name: r, upstream: shop, request: {set_headers: {X-Client: \"{remote_addr}\"}}}]\n",
     "3:70: routes[0].request.set_headers.X-Client: {remote_addr} is no placeholder; expected "
     "{client_ip}, {host}, {method}, {request_id} or {route}"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, limits: per_client}]\n",
     "3:44: routes[0].limits: found the value \"per_client\"; expected a list of limits such as "
     "[per_client, {concurrent: 3}]"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, limits: [per_client]}]\n",
     "3:45: routes[0].limits[0]: \"per_client\" is not a limit; none is defined; define it by its "
     "name at the top level"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, limits: [10r/s]}]\n",
     "3:45: routes[0].limits[0]: \"10r/s\" is a rate; expected the name of a limit, or a map with "
     "requests: 10 and per: 1s"},
};

} // namespace

TEST_CASE("the table: upstreams and routes") {
    check_rows(route_rows);
}

} // namespace stint::config
