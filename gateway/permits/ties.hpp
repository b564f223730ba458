// The leases that end with a connection.
#pragma once

#include "base/hash.hpp"
#include "locks/book.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stint::permits {

// Belongs to one connection, on its worker; its end is theirs, however it comes.
class Ties {
  public:
    // number: no other connection's, not 0.
    Ties(locks::Book& book, std::uint64_t number) : book_{book}, number_{number} {}
    ~Ties();
    Ties(const Ties&) = delete;
    Ties& operator=(const Ties&) = delete;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // One that has this number as Wish::tie or Renewal::tie.
    void add(Hash128 lease);
    void remove(Hash128 lease) noexcept;
    // Whether one of them is alive.
    [[nodiscard]] bool any();

    // The answer with this grant, which is not tied, is on its way: without sent() it is withdrawn.
    void send(std::string_view lock, const locks::Grant& grant);
    void sent() noexcept { sending_.clear(); }

    // The gateway ends the connection, not the caller: they live on for as long as they would if
    // the caller did not answer.
    void let_go() noexcept;

  private:
    struct Sending {
        std::string lock;
        locks::Grant grant;
    };
    void forget_ended();

    locks::Book& book_;
    const std::uint64_t number_;
    std::vector<Hash128> leases_;
    std::vector<Sending> sending_;
    std::size_t look_from_ = 16; // how many there are before those that have ended are looked for
};

} // namespace stint::permits
