// Reads what Stint sends on one connection, and holds each byte against what clients have sent. A
// strict reader of its own: it shares no code with the gateway.
#pragma once

#include "ledger.hpp"
#include "upload.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::uploads {

class Reader {
  public:
    explicit Reader(Ledger& ledger) : ledger_{ledger} {}

    enum class At : std::uint8_t {
        idle,  // between requests
        head,  // within one
        body,  // its head was good
        whole, // next() goes on
        lost,  // what comes is no request: nothing more is read
    };
    [[nodiscard]] At at() const noexcept { return at_; }

    void take(std::string_view bytes);
    void next();    // the request that is whole has been answered
    void abandon(); // nothing more comes: what was begun counts as taken

    // Of the request that is at body or whole.
    [[nodiscard]] const Upload& upload() const noexcept { return upload_; }
    [[nodiscard]] const std::string& asked() const noexcept { return asked_; } // its X-Upload
    [[nodiscard]] bool forged() const noexcept { return forged_; }
    [[nodiscard]] unsigned times_before() const noexcept { return times_before_; }
    [[nodiscard]] std::size_t body_read() const noexcept { return body_read_; }

  private:
    void read_head();
    void read_request(std::string_view head);
    bool read_line(std::string_view line);
    void read_fields(std::string_view lines);
    void read_body();
    bool read_chunk_edge();
    void take_payload(std::string_view payload);
    void end_body();
    void lose(Wrong wrong, const std::string& what);

    Ledger& ledger_;
    At at_ = At::idle;
    std::string buffer_;
    Upload upload_;
    std::string asked_;
    bool forged_ = false;
    unsigned times_before_ = 0;
    std::string body_; // as it must be
    std::size_t body_read_ = 0;
    std::size_t piece_left_ = 0; // of the body, or of a chunk
    bool in_chunk_ = false;
};

} // namespace stint::uploads
