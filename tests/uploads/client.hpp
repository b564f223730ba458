// A client that uploads one after the other, and holds each answer against its request.
#pragma once

#include "dice.hpp"
#include "end.hpp"
#include "ledger.hpp"
#include "upload.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::uploads {

class Client {
  public:
    Client(Ledger& ledger, std::uint16_t port, const TlsSetting* tls)
        : ledger_{ledger}, port_{port}, tls_{tls} {}

    void upload(std::uint64_t id);

  private:
    struct Answer {
        bool complete = false;
        int status = 0;
        std::string upload; // its X-Upload; empty: Stint's own
        bool closes = false;
    };
    bool be_connected();
    bool send_and_listen(Dice& dice, std::size_t most);
    bool send_rest();
    void take_answer();
    void judge(const Upload& upload);

    Ledger& ledger_;
    const std::uint16_t port_;
    const TlsSetting* const tls_;
    End end_;
    std::string to_send_;
    std::size_t sent_ = 0;
    std::size_t piece_ = 0; // of it, that has not gone for want of room
    std::string received_;
    std::string former_; // upload of this connection
    Answer answer_;
    bool ended_ = false;
};

} // namespace stint::uploads
