// Collects what of an nginx configuration the draft does not have.
#pragma once

#include "import/syntax/directive.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

// Returns the name as it can be printed: quoted only if it is no plain word.
[[nodiscard]] std::string plain_name(const std::string& name);

struct Finding {
    Place at;
    std::string directive; // its name
    std::string why;       // never has the value of a header field, which may be a secret
    bool lost = true;      // not carried over; false: a note, nothing is missing in the draft

    // "file:line:column: directive: why", or "file:line:column: note: directive: why"
    [[nodiscard]] std::string text() const;
};

class Report {
  public:
    // The draft lacks what the directive does.
    void lose(const Directive& directive, std::string why);
    // The draft does what the directive does, or needs no such setting.
    void note(const Directive& directive, std::string why);
    void add(Finding finding);

    // Returns the findings in the order of the files' lines, without duplicates.
    [[nodiscard]] std::vector<Finding> take() &&;

  private:
    std::vector<Finding> findings_;
};

} // namespace stint::import_nginx
