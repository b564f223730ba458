// Names of routes, limits and upstreams in the draft.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace stint::import_nginx {

// Returns the text with every other character than A-Z a-z 0-9 . - as "_", without "_" at its ends
// and without several in a row. May be empty.
[[nodiscard]] std::string slug(std::string_view text);

class Names {
  public:
    // Returns a valid name that was not taken before: the slug of the text, or `otherwise` if that
    // is empty, with a number behind it if needed.
    [[nodiscard]] std::string take(std::string_view text, std::string_view otherwise);

  private:
    std::set<std::string> taken_;
};

} // namespace stint::import_nginx
