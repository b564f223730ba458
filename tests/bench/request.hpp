// The requests of a run: one text, or one that differs from request to request where it has marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::bench {

struct RequestOptions {
    std::string path = "/";
    std::vector<std::string> fields; // "Name: value"
    std::size_t post = 0;            // bytes of body; 0: a GET
    std::uint64_t distinct = 1;      // so many numbers take the place of {n}, in turn
};

class Request {
  public:
    explicit Request(const RequestOptions& options);

    // The text of the number-th request. Where it differs it is written to `own`, which must
    // outlive it, as this object must.
    [[nodiscard]] std::string_view text(std::uint64_t number, std::string& own) const;

  private:
    std::string text_;
    std::vector<std::size_t> marks_; // where the digits of the number stand
    std::uint64_t distinct_;
};

} // namespace stint::bench
