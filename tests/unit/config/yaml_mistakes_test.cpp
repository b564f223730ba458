// Mistakes in the YAML itself, before its meaning.
#include "config_support.hpp"

namespace stint::config {

TEST_CASE("a file without content says what it should hold") {
    check_mistakes("", {"1:1: the file is empty; expected a map with listeners and routes"});
    check_mistakes("# nothing yet\n\n", {"1:1: the file is empty"});
    check_mistakes("---\n", {"1:1: the file is empty"});
}

TEST_CASE("what is not YAML is reported where the parser stopped") {
    check_added(
        "routes: [\n", {"3:9: not valid YAML: the [ that opens here is not closed; expected a ]"});
    check_added(
        "routes:\n\t- x\n",
        {"4:2: not valid YAML: found a tab; indent with spaces, not with tabs"});
    check_mistakes(
        "a: b: c\n", {"1:5: not valid YAML: found a second \": \" on this line; expected one key "
                      "and one value"});
}

TEST_CASE("an IPv6 address without quotes is told about quotes") {
    check_mistakes(
        "listeners:\n  - address: [::1]:8080\n",
        {"2:19: an address such as \"[::1]:8080\" needs quotes"});
}

TEST_CASE("a second document is a mistake and the first is still checked") {
    check_added(
        "routes: []\nworkers: -1\n---\nworkers: 1\n",
        {"4:10: workers: \"-1\" is negative", "5:1: a second document"});
}

TEST_CASE("anchors, aliases, merge keys and tags are mistakes at their place") {
    check_added(
        "limits:\n"
        "  a: &window {requests: 1, per: 1s}\n"
        "  b: *window\n"
        "  c: {<<: *window, requests: !!int 3, per: 2s}\n"
        "routes: []\n",
        {"4:6: the anchor \"&window\"; anchors are not supported",
         "5:6: an alias; aliases are not supported", "6:7: a merge key; merge keys are not",
         "6:11: an alias; aliases are not supported",
         "6:30: the tag \"tag:yaml.org,2002:int\"; tags are not supported"});
}

TEST_CASE("an alias to nothing is told about quotes") {
    check_added(
        "routes: *none\n", {"3:9: not valid YAML: found \"*\" at the beginning of a value; a text "
                            "that begins so needs quotes"});
}

TEST_CASE("a key that is there twice is a mistake in any map") {
    check_added(
        "routes: []\n"
        "workers: 1\n"
        "timeouts: {idle: 1s, idle: 2s}\n"
        "limits:\n"
        "  a: {concurrent: 1}\n"
        "  a: {concurrent: 1}\n"
        "workers: 2\n",
        {"5:22: the key \"idle\" is here twice, first on line 5; keep one",
         "8:3: the key \"a\" is here twice, first on line 7",
         "9:1: the key \"workers\" is here twice, first on line 4"});
}

TEST_CASE("a key that is not a word is a mistake") {
    check_added("routes: []\n? [x]\n: 1\n", {"4:3: a key that is a list; expected a word"});
}

TEST_CASE("a value that is not there is reported at its key") {
    check_added(
        "routes:\nworkers:\nmax_head: ~\n",
        {"3:1: routes: found nothing; expected a list of routes",
         "4:1: workers: found nothing; expected auto or a number of threads",
         "5:1: max_head: found nothing; expected a size such as 16KiB"});
}

TEST_CASE("the wrong kind of node is named beside the right one") {
    check_mistakes("- a\n", {"1:1: found a list; expected a map with listeners and routes"});
    check_mistakes(
        "hello\n", {"1:1: found the value \"hello\"; expected a map with listeners and routes"});
    check_added(
        "routes: {a: 1}\nworkers: [1]\nlimits: [1]\naccess_log: off\n",
        {"3:9: routes: found a map; expected a list of routes",
         "4:10: workers: found a list; expected auto",
         "5:9: limits: found a list; expected a map of limits by name",
         "6:13: access_log: found the value \"off\"; expected a map such as {path: stdout}"});
}

TEST_CASE("unknown keys say what was meant, or what there is") {
    check_added(
        "routes: []\nmax_conections: 5\nlog: {colour: red}\n",
        {"4:1: max_conections: unknown key; did you mean \"max_connections\"?",
         "5:7: log.colour: unknown key; expected level"});
}

TEST_CASE("a misspelt key is read as what was meant") {
    check_mistakes(
        "listners: [{adress: nowhere}]\nupstream: {shop: {endpoints: [1.1.1.1:80]}}\n"
        "routes: [{name: r, upstream: shop}]\n",
        {"1:1: listners: unknown key; did you mean \"listeners\"?",
         "1:13: listeners[0].adress: unknown key; did you mean \"address\"?",
         "1:21: listeners[0].address: \"nowhere\" is not an address",
         "2:1: upstream: unknown key; did you mean \"upstreams\"?"});
}

TEST_CASE("what a configuration cannot do without is called missing") {
    check_mistakes(
        "workers: 1\n", {"1:1: listeners is missing; expected a list of addresses",
                         "1:1: routes is missing; expected a list of routes"});
}

TEST_CASE("numbers of the whole process have bounds") {
    check_added(
        "routes: []\nworkers: 1025\nmax_connections: 0\nmax_head: 512\nlog: {level: warm}\n",
        {"4:10: workers: \"1025\" is too large; expected a whole number from 1 to 1024, or auto",
         "5:18: max_connections: \"0\" is zero; expected a whole number from 1 to 1000000",
         "6:11: max_head: \"512\" is too small; expected 1KiB to 64KiB",
         "7:14: log.level: \"warm\" is unknown; did you mean \"warn\"?"});
}

TEST_CASE("mistakes of all parts come at once and in the order of the file") {
    check_mistakes(
        "routes: [{name: a b, upstream: shop}]\n"
        "limits: {x: {requests: 0, per: 1s}}\n"
        "upstreams: {shop: {endpoints: [1.1.1.1:0]}}\n"
        "timeouts: {idle: 5}\n"
        "listeners: []\n",
        {"1:17: routes[0].name: \"a b\" is not a name", "2:24: limits.x.requests: a limit of 0",
         "3:32: upstreams.shop.endpoints[0]: \"1.1.1.1:0\" has no valid port",
         "4:18: timeouts.idle: \"5\" has no unit", "5:12: listeners: is empty"});
}

TEST_CASE("what is taken of requests has its bounds") {
    check_added(
        "routes: [{name: r, upstream: shop, max_body: 2TiB}]\n"
        "max_target: 512\nmax_fields: 7\nmax_body: none\nmerge_slashes: maybe\n"
        "encoded_slashes: drop\nforwarded: 1\npin_workers: 2\nabsolute_form: rout\n",
        {"3:46: routes[0].max_body: \"2TiB\" is too large; expected 1 to 1TiB",
         "4:13: max_target: \"512\" is too small; expected 1KiB to 64KiB",
         "5:13: max_fields: \"7\" is too small; expected a whole number from 8 to 1000",
         "6:11: max_body: \"none\" is not a number",
         "7:16: merge_slashes: \"maybe\" is neither true nor false",
         "8:18: encoded_slashes: \"drop\"", "9:12: forwarded: \"1\" is neither true nor false",
         "10:14: pin_workers: \"2\" is neither true nor false", "11:16: absolute_form: \"rout\""});
}

} // namespace stint::config
