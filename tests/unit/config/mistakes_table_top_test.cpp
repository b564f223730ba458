// Mistakes at the top level of a configuration and in its listeners, as a table.
#include "mistakes_table.hpp"

namespace stint::config {

namespace {

constexpr MistakeRow top_rows[] = {
    {MistakeRow::after_base, "include: conf.d/*.yaml\nroutes: []\n",
     "3:1: include: unknown key; Stint reads one file; put the content here"},
    {MistakeRow::after_base, "listen: 0.0.0.0:8080\nroutes: []\n",
     "3:1: listen: unknown key; clients connect to listeners at the top level: listeners: "
     "[{address: 0.0.0.0:8080}]"},
    {MistakeRow::whole_file, "listeners: {address: 0.0.0.0:8080}\nroutes: []\n",
     "1:12: listeners: found a map; expected a list of listeners such as [{address: "
     "0.0.0.0:8080}]"},
    {MistakeRow::whole_file, "listeners: []\nroutes: []\n",
     "1:12: listeners: is empty; expected at least one listener such as {address: 0.0.0.0:8080}"},
    {MistakeRow::whole_file, "listeners: [8080]\nroutes: []\n",
     "1:13: listeners[0]: found the value \"8080\"; expected a map such as {address: "
     "0.0.0.0:8080}"},
    {MistakeRow::whole_file, "listeners: [{address: 8080}]\nroutes: []\n",
     "1:23: listeners[0].address: \"8080\" is not an address; expected IPv4:port, \"[IPv6]:port\" "
     "or unix:/path, such as 0.0.0.0:8080; did you mean \"0.0.0.0:8080\"?"},
    {MistakeRow::whole_file, "listeners: [{address: \":8080\"}]\nroutes: []\n",
     "1:23: listeners[0].address: \":8080\" is not an address; expected IPv4:port, \"[IPv6]:port\" "
     "or unix:/path, such as 0.0.0.0:8080; did you mean \"0.0.0.0:8080\"?"},
    {MistakeRow::whole_file, "listeners: [{address: localhost:8080}]\nroutes: []\n",
     "1:23: listeners[0].address: \"localhost:8080\" is not an address; expected IPv4:port, "
     "\"[IPv6]:port\" or unix:/path, such as 0.0.0.0:8080; did you mean \"127.0.0.1:8080\"?"},
    {MistakeRow::whole_file, "listeners: [{address: 0.0.0.0:80800}]\nroutes: []\n",
     "1:23: listeners[0].address: \"0.0.0.0:80800\" has no valid port; expected a port from 0 to "
     "65535"},
    {MistakeRow::whole_file, "listeners: [{address: \"http://0.0.0.0:8080\"}]\nroutes: []\n",
     "1:23: listeners[0].address: \"http://0.0.0.0:8080\" is not an address; expected IPv4:port, "
     "\"[IPv6]:port\" or unix:/path, such as 0.0.0.0:8080; did you mean \"0.0.0.0:8080\"?"},
    {MistakeRow::whole_file,
     "listeners: [{address: 0.0.0.0:8080}, {address: 0.0.0.0:8080}]\nroutes: []\n",
     "1:48: listeners[1].address: \"0.0.0.0:8080\" is the address of another listener already; "
     "expected another address"},
    {MistakeRow::whole_file, "listeners: [{address: unix:run/stint.sock}]\nroutes: []\n",
     "1:23: listeners[0].address: \"unix:run/stint.sock\" has no absolute path; expected "
     "unix:/path"},
    {MistakeRow::whole_file, "listeners: [{address: 0.0.0.0:8443, ssl: true}]\nroutes: []\n",
     "1:37: listeners[0].ssl: unknown key; expected tls: {certificate: shop.pem, key: shop.key}"},
    {MistakeRow::whole_file, "listeners: [{address: 0.0.0.0:8443, tls: true}]\nroutes: []\n",
     "1:42: listeners[0].tls: found the value \"true\"; expected a map such as {certificate: "
     "shop.pem, key: shop.key}"},
    {MistakeRow::whole_file,
     "listeners: [{address: 127.0.0.1:8080, proxy_protocol: yes}]\nroutes: []\n",
     "1:55: listeners[0].proxy_protocol: \"yes\" is neither true nor false; did you mean "
     "\"true\"?"},
    {MistakeRow::after_base, "admin: 9901\nroutes: []\n",
     "3:8: admin: found the value \"9901\"; expected a map such as {address: 127.0.0.1:9901}"},
    {MistakeRow::after_base, "admin: {address: 0.0.0.0:9901}\nroutes: []\n",
     "3:18: admin.address: \"0.0.0.0:9901\" can be reached from other machines; expected a "
     "token_file, read_only: true, or an address such as 127.0.0.1:9901"},
    {MistakeRow::after_base, "admin: {address: 127.0.0.1:9901, token: secret}\nroutes: []\n",
     "3:34: admin.token: unknown key; expected token_file, the path of a file with the token, so "
     "that GET /config and backups of this file do not show it"},
    {MistakeRow::after_base,
     "admin: {address: 127.0.0.1:9901, token_file: /nowhere/token}\nroutes: []\n",
     "3:46: admin.token_file: \"/nowhere/token\" does not exist; expected a file, whose path is "
     "absolute or begins in the folder of the configuration"},
    {MistakeRow::after_base, "worker_processes: 4\nroutes: []\n",
     "3:1: worker_processes: unknown key; expected workers: auto, or a number of threads"},
    {MistakeRow::after_base, "workers: four\nroutes: []\n",
     "3:10: workers: \"four\" is not a whole number; expected a whole number from 1 to 1024, or "
     "auto"},
    {MistakeRow::after_base, "max_connections: 10_000\nroutes: []\n",
     "3:18: max_connections: \"10_000\" is not a whole number; expected a whole number from 1 to "
     "1000000"},
    {MistakeRow::after_base, "max_connections: -1\nroutes: []\n",
     "3:18: max_connections: \"-1\" is negative; expected a whole number from 1 to 1000000"},
    {MistakeRow::after_base, "max_connections: 99999999999999999999\nroutes: []\n",
     "3:18: max_connections: \"99999999999999999999\" is too large; expected a whole number from 1 "
     "to 1000000"},
    {MistakeRow::after_base, "max_conections: 100\nroutes: []\n",
     "3:1: max_conections: unknown key; did you mean \"max_connections\"?"},
    {MistakeRow::after_base, "timeout: {idle: 30s}\nroutes: []\n",
     "3:1: timeout: unknown key; did you mean \"timeouts\"?"},
    {MistakeRow::after_base, "timeouts: {idle: 60}\nroutes: []\n",
     "3:18: timeouts.idle: \"60\" has no unit; expected a number with ms, s, m, h or d, from 1ms "
     "to 366d, such as 800ms"},
    {MistakeRow::after_base, "timeouts: {idle: 5 minutes}\nroutes: []\n",
     "3:18: timeouts.idle: \"5 minutes\" has no known unit (did you mean \"5m\"?); expected a "
     "number with ms, s, m, h or d, from 1ms to 366d, such as 800ms"},
    {MistakeRow::after_base, "timeouts: {read: 30s}\nroutes: []\n",
     "3:12: timeouts.read: unknown key; expected head or body_idle, for reading a request"},
    {MistakeRow::after_base, "timeouts: 30s\nroutes: []\n",
     "3:11: timeouts: found the value \"30s\"; expected a map such as {connect: 2s}"},
    {MistakeRow::after_base, "max_body: 10MB\nroutes: []\n",
     "3:11: max_body: \"10MB\" has no known unit (did you mean \"10MiB\"?); expected 1 to 1TiB, a "
     "whole number of bytes or with B, KiB, MiB, GiB or TiB, 0 for none, or off"},
    {MistakeRow::after_base, "max_body: 10KB\nroutes: []\n",
     "3:11: max_body: \"10KB\" has no known unit (did you mean \"10KiB\"?); expected 1 to 1TiB, a "
     "whole number of bytes or with B, KiB, MiB, GiB or TiB, 0 for none, or off"},
    {MistakeRow::after_base, "max_body: 10k\nroutes: []\n",
     "3:11: max_body: \"10k\" has no known unit (did you mean \"10KiB\"?); expected 1 to 1TiB, a "
     "whole number of bytes or with B, KiB, MiB, GiB or TiB, 0 for none, or off"},
    {MistakeRow::after_base, "max_head: 1MiB\nroutes: []\n",
     "3:11: max_head: \"1MiB\" is too large; expected 1KiB to 64KiB, a whole number of bytes or "
     "with B, KiB, MiB, GiB or TiB"},
    {MistakeRow::after_base, "trusted_proxies: [10.0.0.0/33]\nroutes: []\n",
     "3:19: trusted_proxies[0]: \"10.0.0.0/33\" is not a network; expected one such as 10.0.0.0/8 "
     "or 2001:db8::/32, or an address"},
    {MistakeRow::after_base, "trusted_proxies: [10.0.0.1/8]\nroutes: []\n",
     "3:19: trusted_proxies[0]: \"10.0.0.1/8\" has bits beyond its prefix; did you mean "
     "\"10.0.0.0/8\"?"},
    {MistakeRow::after_base, "trusted_proxies: [lb.example]\nroutes: []\n",
     "3:19: trusted_proxies[0]: \"lb.example\" is not a network; expected one such as 10.0.0.0/8 "
     "or 2001:db8::/32, or an address"},
    {MistakeRow::after_base, "log: debug\nroutes: []\n",
     "3:6: log: found the value \"debug\"; expected a map such as {level: info}"},
    {MistakeRow::after_base, "log: {level: warning}\nroutes: []\n",
     "3:14: log.level: \"warning\" is unknown; expected trace, debug, info, warn or error"},
    {MistakeRow::after_base, "access_log: /var/log/stint.log\nroutes: []\n",
     "3:13: access_log: found the value \"/var/log/stint.log\"; expected a map such as {path: "
     "stdout}"},
};

} // namespace

TEST_CASE("the table: listeners and the top level") {
    check_rows(top_rows);
}

} // namespace stint::config
