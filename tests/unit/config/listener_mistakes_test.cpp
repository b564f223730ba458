// Mistakes in listeners, admin, access_log and timeouts.
#include "config_support.hpp"

namespace stint::config {

namespace {

void check_listeners(
    std::string_view items,
    std::initializer_list<std::string_view> expected,
    std::source_location at = std::source_location::current()) {
    check_mistakes("routes: []\nlisteners: [" + std::string{items} + "]\n", expected, at);
}

} // namespace

TEST_CASE("a listener needs an address that it can listen on") {
    check_listeners("", {"2:12: listeners: is empty; expected at least one listener"});
    check_listeners("{}", {"2:13: listeners[0]: address is missing; expected an address"});
    check_listeners("x", {"2:13: listeners[0]: found the value \"x\"; expected a map such as"});
    check_listeners(
        "{address: localhost:80}", {"2:23: \"localhost:80\" is not an address; expected IPv4"});
    check_listeners("{address: 1.2.3.4}", {"2:23: \"1.2.3.4\" has no port"});
    check_listeners("{address: 1.2.3.4:65536}", {"2:23: expected a port from 0 to 65535"});
    check_listeners("{address: 1.2.3.4:-1}", {"2:23: has no valid port"});
    check_listeners("{address: 1.2.3.4:080}", {"2:23: has no valid port"});
    check_listeners("{address: \"::1:80\"}", {"2:23: \"::1:80\" is not an address"});
    check_listeners("{address: \"[1.2.3.4]:80\"}", {"2:23: is not an address"});
    check_listeners("{address: \"[::1%eth0]:80\"}", {"2:23: is not an address"});
    check_listeners("{address: \"[::1]x:80\"}", {"2:23: is not an address"});
    check_listeners("{address: unix:run/s}", {"2:23: has no absolute path; expected unix:/path"});
    check_listeners("{address: unix:/" + std::string(107, 'x') + "}", {"2:23: at most 107 bytes"});
}

TEST_CASE("an address is listened on once, however it is spelt") {
    check_listeners(
        "{address: \"[::1]:80\"}, {address: \"[0:0::1]:80\"}",
        {"2:46: listeners[1].address: \"[0:0::1]:80\" is the address of another listener already"});
    check_listeners("{address: unix:/s}, {address: unix:/s}", {"2:43: another listener already"});
    check_listeners("{address: 1.1.1.1:0}, {address: 1.1.1.1:0}", {});
    check_mistakes(
        "routes: []\nlisteners: [{address: 1.1.1.1:1}]\nadmin: {address: 1.1.1.1:1, read_only: "
        "true}\n",
        {"3:18: admin.address: \"1.1.1.1:1\" is the address of another listener already"});
}

TEST_CASE("mode and group are for the files of Unix sockets") {
    check_listeners("{address: unix:/s, mode: 0660, group: 0}, {address: unix:/t, mode: 777}", {});
    for (const std::string wrong : {"660x", "0668", "66", "1660", "06600", "rw-rw----", "-660"})
        check_listeners(
            "{address: unix:/s, mode: " + wrong + "}",
            {"2:38: \"" + wrong + "\" is not a file's mode; expected three octal digits"});
    check_listeners("{address: unix:/s, mode: [6]}", {"2:38: found a list; expected a mode such"});
    check_listeners(
        "{address: unix:/s, group: no-such-group}",
        {"2:39: \"no-such-group\" is no group of this machine; expected its name or number"});
    check_listeners("{address: unix:/s, group: 4294967295}", {"2:39: is no group"});
    check_listeners(
        "{address: 1.1.1.1:1, mode: 0660, group: root}",
        {"2:34: listeners[0].mode: is for the file of a Unix socket",
         "2:46: listeners[0].group: is for the file"});
    check_added(
        "routes: []\nadmin: {address: 127.0.0.1:1, mode: 0600}\n", {"4:31: admin.mode: is for"});
    check_added(
        "routes: []\npermits: {address: 127.0.0.1:1, group: root}\n",
        {"4:33: permits.group: is for"});
    check_added("routes: []\nadmin: {address: unix:/a, mode: 600, group: root}\n", {});
}

TEST_CASE("half_close is one of two words") {
    check_listeners(
        "{address: 1.1.1.1:1, half_close: gon}",
        {"2:46: \"gon\" is unknown; did you mean \"gone\"?"});
}

TEST_CASE("h2 is offered over TLS, and beside http/1.1") {
    check_listeners(
        "{address: 1.1.1.1:1, http: [h2, http/1.1]}",
        {"2:34: listeners[0].http: offers h2 in the TLS handshake, and needs tls"});
    check_listeners(
        "{address: 1.1.1.1:1, http: [h3]}",
        {"2:40: listeners[0].http: lacks http/1.1",
         "2:41: listeners[0].http[0]: \"h3\" is unknown; expected h2 or http/1.1"});
    check_listeners(
        "{address: 1.1.1.1:1, http: [http/1.1, http/1.1]}",
        {"2:51: listeners[0].http[1]: \"http/1.1\" is listed already"});
    check_listeners(
        "{address: 1.1.1.1:1, h2c: true, tls: {certificate: /a, key: /b}}",
        {"2:34: listeners[0].h2c: is for a listener without tls",
         "2:64: listeners[0].tls.certificate: \"/a\" does not exist",
         "2:73: listeners[0].tls.key: \"/b\" does not exist"});
}

TEST_CASE("HTTP/2 on the other listeners, too, is offered where clients can choose it") {
    check_added(
        "routes: []\nadmin: {address: 127.0.0.1:1, http: [h2, http/1.1]}\n",
        {"4:31: admin.http: offers h2 in the TLS handshake, and needs tls"});
    check_added(
        "routes: []\npermits: {address: 127.0.0.1:1, http: [h2, http/1.1]}\n",
        {"4:33: permits.http: offers h2"});
    check_added("routes: []\npermits: {address: 127.0.0.1:1, h2c: true}\n", {});
    check_added("routes: []\nadmin: {address: 127.0.0.1:1, h2c: true}\n", {});
}

TEST_CASE("the bounds of HTTP/2's connections are checked") {
    const auto bounds = [](const std::string& keys,
                           std::initializer_list<std::string_view> errors) {
        check_listeners("{address: 1.1.1.1:1, h2c: true, http2: {" + keys + "}}", errors);
    };
    bounds("max_streams: 1000, stream_window: 16MiB, connection_window: 1GiB", {});
    bounds("max_waiting_streams: 0, max_requests: off, max_glitches: 20", {});
    bounds(
        "max_streams: 0", {"2:66: listeners[0].http2.max_streams: \"0\" is zero; expected a whole "
                           "number from 1 to 1000"});
    bounds("max_streams: 1001", {"2:66: listeners[0].http2.max_streams: "});
    bounds("max_waiting_streams: 1001", {"2:74: listeners[0].http2.max_waiting_streams: "});
    bounds("max_requests: 0", {"2:67: listeners[0].http2.max_requests: "});
    bounds("stream_window: 4095", {"2:68: listeners[0].http2.stream_window: "});
    bounds("connection_window: 2GiB", {"2:72: listeners[0].http2.connection_window: "});
    bounds("max_glitches: 19", {"2:67: listeners[0].http2.max_glitches: "});
    bounds("max_stream: 7", {"2:53: listeners[0].http2.max_stream: "});
    bounds(
        "max_streams: 10, max_waiting_streams: 11",
        {"2:70: listeners[0].http2.max_waiting_streams: is more than max_streams, which is 10"});
    bounds("max_streams: 10", {});
    bounds(
        "stream_window: 2MiB",
        {"2:53: listeners[0].http2.stream_window: is more than connection_window"});
    check_listeners(
        "{address: 1.1.1.1:1, http2: {max_streams: 7}}",
        {"2:34: listeners[0].http2: is for a listener that speaks HTTP/2"});
    check_listeners(
        "{address: 1.1.1.1:1, http: [http/1.1], tls: {certificate: /a, key: /b}, http2: {}}",
        {"2:71: listeners[0].tls.certificate", "2:80: listeners[0].tls.key",
         "2:85: listeners[0].http2: is for a listener that speaks HTTP/2"});
    check_listeners(
        "{address: 1.1.1.1:1, h2c: true, http2: 7}",
        {"2:52: listeners[0].http2: found the value \"7\"; expected a map such as {max_streams: "
         "100}"});
}

TEST_CASE("an admin listener that others can reach needs a token or to be read-only") {
    check_added(
        "routes: []\nadmin: {address: 0.0.0.0:1}\n",
        {"4:18: admin.address: \"0.0.0.0:1\" can be reached from other machines"});
    check_added(
        "routes: []\nadmin: {address: \"[::]:1\", read_only: false}\n", {"4:18: other machines"});
    check_added("routes: []\nadmin: {address: 0.0.0.0:1, read_only: true}\n", {});
    check_added("routes: []\nadmin: {address: 127.8.0.1:1}\n", {});
    check_added("routes: []\nadmin: {address: \"[::1]:1\"}\n", {});
    check_added("routes: []\nadmin: {address: unix:/run/admin}\n", {});
}

TEST_CASE("admin's other settings are checked") {
    check_added(
        "routes: []\nadmin: {token_file: /nonexistent/token, read_only: yes}\n",
        {"4:8: admin: address is missing",
         "4:21: admin.token_file: \"/nonexistent/token\" does not exist",
         "4:52: admin.read_only: \"yes\" is neither true nor false"});
}

TEST_CASE("the hosts of admin and permits are names") {
    check_added(
        "routes: []\nadmin: {address: 127.0.0.1:1, hosts: [Stint, admin.internal, a_b]}\n"
        "permits: {address: 127.0.0.1:2, hosts: [stint]}\n",
        {});
    check_added(
        "routes: []\nadmin: {address: 127.0.0.1:1, hosts: [\"stint:9901\", stint, STINT, 10.0.0.1, "
        "\"*\"]}\n",
        {"4:39: admin.hosts[0]: \"stint:9901\" is not a host's name; expected one such as "
         "stint.internal",
         "4:60: admin.hosts[2]: \"stint\" is listed already",
         "4:67: admin.hosts[3]: \"10.0.0.1\" is not a host's name",
         "4:77: admin.hosts[4]: \"*\" is not"});
    check_added(
        "routes: []\npermits: {address: 127.0.0.1:1, hosts: stint}\n",
        {"4:40: permits.hosts: found the value \"stint\"; expected a list of names"});
    check_added(
        "routes: []\nadmin: {address: 127.0.0.1:1, host: [a]}\n",
        {"4:31: admin.host: unknown key; did you mean \"hosts\"?"});
}

TEST_CASE("an access log needs a file and fields that exist") {
    check_added(
        "routes: []\naccess_log: {path: /, fields: [Referer, header:a b, header:X-A, "
        "header:x-a]}\n",
        {"4:20: access_log.path: \"/\" is not the path of a file",
         "4:32: access_log.fields[0]: \"Referer\" is not a field; expected header:NAME",
         "4:41: access_log.fields[1]: \"header:a b\" is not a field",
         "4:65: access_log.fields[3]: \"header:x-a\" is listed already"});
    check_added("routes: []\naccess_log: {path: /tmp}\n", {"4:20: \"/tmp\" is a folder"});
    check_added(
        "routes: []\naccess_log: {path: \"a\\0b\"}\n", {"4:20: \"a\\x00b\" is not the path"});
}

TEST_CASE("time-outs are durations of whole milliseconds") {
    check_added(
        "routes: []\n"
        "timeouts: {head: 0s, body_idle: 1.5ms, idle: ten, connect: [1s], response: 5m, drain: "
        "1}\n",
        {"4:18: timeouts.head: \"0s\" is zero; expected a number with ms, s, m, h or d",
         "4:33: timeouts.body_idle: \"1.5ms\" is not a whole number of milliseconds",
         "4:46: timeouts.idle: \"ten\" is not a number",
         "4:60: timeouts.connect: found a list; expected a duration such as 2s",
         "4:87: timeouts.drain: \"1\" has no unit"});
}

} // namespace stint::config
