#include "import/draft/yaml.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint::import_nginx;

TEST_CASE("the draft's YAML: texts are quoted where they would be read otherwise") {
    Node list = Node::list();
    for (const char* const text :
         {"plain", "/a/b", "off", "10", "a b", "a:b", "", "{x}", "say \"hi\"", "line\nend",
          "back\\slash", "${HOME}", "$x", "~", "*"})
        list.push(Node::text(text));
    CHECK(
        Node::map().add("a", list.flow()).document() ==
        R"(a: [plain, /a/b, "off", "10", "a b", "a:b", "", "{x}", "say \"hi\"", "line\nend", )"
        R"("back\\slash", "$${HOME}", "$x", "~", "*"])"
        "\n");
}

TEST_CASE("the draft's YAML: comments are one line each, without control characters, and broken") {
    Node map = Node::map();
    map.add(
        "a", Node::number(1),
        {"one\ntwo\x01\xC3\xA4", std::string(60, 'x') + ' ' + std::string(70, 'y')});
    CHECK(
        map.document() ==
        "# one two???\n# " + std::string(60, 'x') + "\n# " + std::string(70, 'y') + "\na: 1\n");
}

TEST_CASE("the draft's YAML: maps in lists") {
    Node one = Node::map();
    one.add("name", Node::text("x")).add("match", Node::map().add("path", Node::text("/")).flow());
    Node list = Node::list();
    list.push(one, {"first"});
    CHECK(
        Node::map().add("routes", list).document() ==
        "routes:\n  # first\n  - name: x\n    match: {path: /}\n");
}
