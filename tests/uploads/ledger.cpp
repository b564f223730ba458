#include "ledger.hpp"

#include <algorithm>
#include <cstdio>

namespace stint::uploads {
namespace {

// How often an idempotent request may reach an upstream: three attempts, and each may have begun on
// a pooled connection that was renewed.
constexpr unsigned most_sent = 6;
constexpr std::uint64_t most_printed = 5; // of one kind

} // namespace

Ledger::Ledger(std::uint64_t seed_given, std::uint64_t how_many)
    : seed{seed_given}, count{how_many}, records_{std::make_unique<Record[]>(how_many + 1)} {}

unsigned Ledger::take(const Upload& upload) {
    const unsigned before = records_[upload.id].taken++;
    if (before >= (upload.idempotent() ? most_sent : 1))
        report(
            Wrong::twice, std::string{upload.method} + " " + path_of(upload) + " for the " +
                              std::to_string(before + 1) + ". time");
    return before;
}

void Ledger::report(Wrong wrong, const std::string& text) {
    const auto kind = static_cast<std::size_t>(wrong);
    if (wrongs_[kind]++ >= most_printed)
        return;
    const std::lock_guard lock{printing_};
    std::printf("  %s: %s\n", wrong_names[kind].data(), text.c_str());
    std::fflush(stdout);
}

std::uint64_t Ledger::violations() const {
    std::uint64_t all = 0;
    for (const auto& each : wrongs_)
        all += each;
    return all;
}

void Ledger::note_status(int status) {
    ++statuses_[static_cast<std::size_t>(std::clamp(status, 0, 599))];
}

void Ledger::print() const {
    std::printf("answers:");
    for (std::size_t status = 0; status < statuses_.size(); ++status)
        if (statuses_[status] > 0)
            std::printf(
                " %zu: %llu", status, static_cast<unsigned long long>(statuses_[status].load()));
    std::printf("\nfaults:");
    for (std::size_t fault = 1; fault < faults_.size(); ++fault)
        std::printf(
            "%s %s: %llu", fault > 1 ? "," : "", fault_names[fault].data(),
            static_cast<unsigned long long>(faults_[fault].load()));
    std::printf("\nblocked: %llu\nviolations:", static_cast<unsigned long long>(blocked.load()));
    for (std::size_t wrong = 0; wrong < wrongs_.size(); ++wrong)
        std::printf(
            "%s %s: %llu", wrong > 0 ? "," : "", wrong_names[wrong].data(),
            static_cast<unsigned long long>(wrongs_[wrong].load()));
    std::printf(
        "\n%llu uploads, %llu violations\n", static_cast<unsigned long long>(count),
        static_cast<unsigned long long>(violations()));
}

} // namespace stint::uploads
