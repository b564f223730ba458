// The part of a store's connection between the handshake and the first call: loads the script, and
// asks the server for its facts.
#pragma once

#include "redis/connection.hpp"
#include "redis/server_facts.hpp"

#include <functional>
#include <string>

namespace stint::redis {

// Outlives the connections that it is used with; with one at a time.
class SetUp {
  public:
    // Called once the server has answered: with an empty text, or with the reason why it cannot be
    // the store: "LOADING ...". Not called if the connection ends.
    using Done = std::function<void(const std::string& failure)>;

    explicit SetUp(std::string script);

    // Sends all that must be answered before the first call. Returns false if it may not be sent.
    [[nodiscard]] bool begin(Connection& connection, Done done);

    // Loads the script again, which the server has forgotten, unless that is under way: the server
    // runs later commands after it. Returns false if the command may not be sent.
    [[nodiscard]] bool load_again(Connection& connection);

    // Valid after Done without a failure.
    [[nodiscard]] const ServerFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] const std::string& sha1() const noexcept { return sha1_; }

  private:
    void on_loaded(const Reply& reply, const Done& done);

    const std::string load_; // SCRIPT LOAD, as it is sent
    std::string sha1_;       // the script's, as the server has computed it
    ServerFacts facts_;
    bool loading_again_ = false;
};

} // namespace stint::redis
