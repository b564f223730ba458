// Mistakes in the YAML itself, as a table.
#include "mistakes_table.hpp"

namespace stint::config {

namespace {

constexpr MistakeRow yaml_rows[] = {
    {MistakeRow::after_base, "limits:\n  a:\n    requests 10\n    per: 1s\nroutes: []\n",
     "5:5: not valid YAML: \"requests 10\" has no colon after its key; write \"requests: 10\""},
    {MistakeRow::after_base,
     "limits:\n  a:\n    requests: 10\n    per 1s\n    key: client_ip\nroutes: []\n",
     "6:5: not valid YAML: \"per 1s\" has no colon after its key; write \"per: 1s\""},
    {MistakeRow::after_base,
     "routes: []\nlimits:\n  a:\n    per: 1s\n    requests: 10\n    key client_ip\n",
     "8:5: limits.a.\"key client_ip\": unknown key: it has no colon after its key; write \"key: "
     "client_ip\""},
    {MistakeRow::after_base, "workers 2\nroutes: []\n",
     "3:1: not valid YAML: \"workers 2\" has no colon after its key; write \"workers: 2\""},
    {MistakeRow::after_base, "workers:2\nroutes: []\n",
     "3:1: not valid YAML: \"workers:2\" has no blank after the colon; write \"workers: 2\""},
    {MistakeRow::after_base, "timeouts: {head:10s}\nroutes: []\n",
     "3:12: timeouts.\"head:10s\": unknown key: it has no blank after the colon; write \"head: "
     "10s\""},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop\n",
     "3:10: not valid YAML: the { that opens here is not closed; expected a }"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop]\n",
     "3:34: not valid YAML: found ]; expected } first, for the { that opens at 3:10; a text with "
     "brackets, commas or \": \" needs quotes"},
    {MistakeRow::after_base, "limits: {a: {requests: 1, per: 1s}\nroutes: []\n",
     "3:9: not valid YAML: the { that opens here is not closed; expected a }"},
    {MistakeRow::after_base, "limits: {a: {requests: 1, per: 1s}}}\nroutes: []\n",
     "3:36: not valid YAML: found } that closes nothing; remove it; a text with brackets, commas "
     "or \": \" needs quotes"},
    {MistakeRow::after_base, "routes: ]\n",
     "3:9: not valid YAML: found ] that closes nothing; remove it; a text with brackets, commas or "
     "\": \" needs quotes"},
    {MistakeRow::after_base, "routes:\n  - name: r\n    upstream: \"shop\n",
     "5:15: not valid YAML: the \" that opens here is not closed; expected a closing one, or none: "
     "most values need no quotes"},
    {MistakeRow::after_base, "routes:\n  - name: 'r\n    upstream: shop\n",
     "4:11: not valid YAML: the ' that opens here is not closed; expected a closing one, or none: "
     "most values need no quotes"},
    {MistakeRow::after_base, "routes: []\nlog: {level: \"info}\n",
     "4:14: not valid YAML: the \" that opens here is not closed; expected a closing one, or none: "
     "most values need no quotes"},
    {MistakeRow::after_base, "access_log: {path: \"stdout}\nlog: {level: \"info\"}\nroutes: []\n",
     "3:20: not valid YAML: the \" that opens here is closed only at 4:14; expected a closing one "
     "on its own line"},
    {MistakeRow::after_base, "limits: {a: {requests: 1 per: 1s}}\nroutes: []\n",
     "3:29: not valid YAML: found \": 1s}}\" inside the { that opens at 3:13; expected a comma "
     "before a further entry; a text with brackets, commas or \": \" needs quotes"},
    {MistakeRow::after_base, "routes:\n  - name: r\n    upstream: shop\n    match: {path: /a: b}\n",
     "6:21: not valid YAML: found \": b}\" inside the { that opens at 6:12; expected a comma "
     "before a further entry; a text with brackets, commas or \": \" needs quotes"},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {host: *.example.com}}]\n",
     "3:50: not valid YAML: found \"*\" at the beginning of a value; a text that begins so needs "
     "quotes, such as \"*.example.com\""},
    {MistakeRow::after_base, "routes: [{name: r, upstream: shop, match: {host: @shop}}]\n",
     "3:50: not valid YAML: found \"@\" at the beginning of a value; a text that begins so needs "
     "quotes, such as \"*.example.com\""},
    {MistakeRow::after_base, "routes:\n\t- name: r\n",
     "4:2: not valid YAML: found a tab; indent with spaces, not with tabs"},
    {MistakeRow::after_base, "routes:\n  - name: r\n\tupstream: shop\n",
     "5:1: not valid YAML: found a tab; indent with spaces, not with tabs"},
    {MistakeRow::after_base, "routes:\n  - name: r\n  upstream: shop\n",
     "5:3: not valid YAML: found \"upstream\" at column 3; expected column 5, that of \"name\" at "
     "4:5, or the column of a map around it"},
    {MistakeRow::after_base, "routes:\n  - name: r\n     upstream: shop\n",
     "5:6: not valid YAML: found \"upstream\" at column 6; expected column 5, that of \"name\" at "
     "4:5, or the column of a map around it"},
    {MistakeRow::after_base, " workers: 2\nroutes: []\n",
     "3:2: not valid YAML: found \"workers\" at column 2; expected column 1, that of \"upstreams\" "
     "at 2:1, or the column of a map around it"},
    {MistakeRow::after_base, "log: level: info\nroutes: []\n",
     "3:11: not valid YAML: found a second \": \" on this line; expected one key and one value; a "
     "text with \": \" needs quotes, and a map a line for each key, or { }"},
    {MistakeRow::after_base, "workers: 1\nroutes: []\nworkers: 2\n",
     "5:1: the key \"workers\" is here twice, first on line 3; keep one"},
    {MistakeRow::after_base,
     "limits:\n  a: {requests: 1, per: 1s}\n  a: {requests: 2, per: 1s}\nroutes: []\n",
     "5:3: the key \"a\" is here twice, first on line 4; keep one"},
    {MistakeRow::after_base, "limits: {a: &a {requests: 1, per: 1s}}\nroutes: []\n",
     "3:13: the anchor \"&a\"; anchors are not supported, write the value out where it is needed"},
    {MistakeRow::after_base, "routes: []\nworkers: 1\n---\nworkers: 2\n",
     "5:1: a second document; a configuration is one document: remove the line ---"},
    {MistakeRow::whole_file, "listeners: [{address: [::1]:8080}]\nroutes: []\n",
     "1:28: not valid YAML: found text behind a ]; an address such as \"[::1]:8080\" needs quotes"},
    {MistakeRow::whole_file, "listeners: [{address: 127.0.0.1:${PORT}}]\nroutes: []\n",
     "1:33: not valid YAML: found ${ inside brackets; a value with ${NAME} inside { } or [ ] needs "
     "quotes"},
    {MistakeRow::whole_file, "",
     "1:1: the file is empty; expected a map with listeners and routes"},
    {MistakeRow::whole_file, "server {\n    listen 80;\n}\n",
     "1:1: found the value \"server { listen 80; }\"; expected a map with listeners and routes"},
};

} // namespace

TEST_CASE("the table: YAML") {
    check_rows(yaml_rows);
}

} // namespace stint::config
