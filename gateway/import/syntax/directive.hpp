// A directive of an nginx configuration, as the parser gives it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace stint::import_nginx {

// A place in a file. Lines and columns count from 1; columns count characters.
struct Place {
    std::shared_ptr<const std::string> file; // its name; never null in what the parser gives
    std::size_t line = 1;
    std::size_t column = 1;

    [[nodiscard]] std::string text() const; // "file:line:column"
};

struct Directive {
    std::string name; // without quotes; in a `map` or `types` block any text, also ""
    std::vector<std::string> args;
    Place at;
    bool has_block = false;       // it ended with { } and not with ;
    std::vector<Directive> block; // with what `include` named in the place of the include

    [[nodiscard]] std::string text() const; // "name argument ... (file:line:column)"
};

// A fault that ends the reading of a configuration.
struct SyntaxFault {
    Place at;
    std::string message; // the fault: what was found, and what was expected

    [[nodiscard]] std::string text() const; // "file:line:column: message"
};

} // namespace stint::import_nginx
