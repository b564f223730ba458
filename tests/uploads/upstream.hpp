// An endpoint behind Stint that goes wrong by plan: what it does with a request depends on the
// seed, the upload and how often it has come.
#pragma once

#include "dice.hpp"
#include "end.hpp"
#include "ledger.hpp"
#include "reader.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::uploads {

class Upstream {
  public:
    // refuses: closes its listener again and again.
    Upstream(Ledger& ledger, std::uint16_t port, const TlsSetting* tls, bool refuses)
        : ledger_{ledger}, listener_{port, tls}, refuses_{refuses} {}

    void run(); // until the ledger says stop and every connection has ended

  private:
    void accept_for(int milliseconds);

    Ledger& ledger_;
    Listener listener_;
    const bool refuses_;
    std::uint64_t accepted_ = 0;
    std::atomic<int> open_{0};
};

// One connection.
class Served {
  public:
    Served(Ledger& ledger, End end, std::uint64_t number)
        : ledger_{ledger}, end_{std::move(end)}, reader_{ledger}, dice_{ledger.seed, 3, number} {}

    void run();

  private:
    // False: the connection is over.
    bool pass_idle_time();
    bool read_next_head();
    bool serve_request();
    bool serve_early(Fault fault, std::size_t until);
    bool break_off(Fault fault, std::size_t until);
    bool finish_request(bool keep);

    bool read_some(std::size_t most, int milliseconds);
    bool read_body(std::size_t until, std::size_t at_once = 65536);
    bool read_whole();
    bool answer(std::string_view status, bool keep);
    void hold();
    void note_blocked();
    void leave(Fault fault, bool reset);

    Ledger& ledger_;
    End end_;
    Reader reader_;
    Dice dice_; // for what is no request's
};

} // namespace stint::uploads
