#include "permits/lock_json.hpp"

#include "http/json_text.hpp"
#include "http/permit_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace stint::permits {
namespace {

class Text {
  public:
    Text& operator<<(std::string_view text) {
        text_ += text;
        return *this;
    }
    Text& operator<<(std::uint64_t number) {
        text_ += std::to_string(number);
        return *this;
    }
    Text& operator<<(Duration duration) {
        return *this << static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_ms(duration), 0));
    }
    void quote(std::string_view text) {
        text_ += '"';
        http::write_json_text(*this, text);
        text_ += '"';
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// Formats a time as RFC 3339, in UTC, with milliseconds.
std::string instant(WallTime time) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since).count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 48> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(
        text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(since.count() % 1000));
    return text.data();
}

std::string_view word(locks::LeaseBinding binding) noexcept {
    switch (binding) {
    case locks::LeaseBinding::lease:
        break;
    case locks::LeaseBinding::connection:
        return "connection";
    case locks::LeaseBinding::stream:
        return "stream";
    }
    return "lease";
}

void write(Text& out, const locks::HolderState& holder, Ids ids) {
    out << "{";
    if (ids == Ids::shown)
        out << R"("lease":")" << http::lease_text(holder.id) << R"(",)";
    out << R"("owner":)";
    out.quote(holder.owner);
    out << R"(,"fence":)" << holder.fence << R"(,"count":)" << std::uint64_t{holder.count}
        << R"(,"hold":")" << word(holder.binding) << R"(","held_ms":)" << holder.held
        << R"(,"since":")" << instant(holder.since) << R"(","expires_in_ms":)" << holder.expires_in
        << "}";
}

void write(Text& out, const locks::LockState& lock, Ids ids) {
    out << R"({"lock":)";
    out.quote(lock.name);
    out << R"(,"max":)" << lock.max << R"(,"held":)" << lock.held << R"(,"proxied":)"
        << lock.proxied << R"(,"waiting":)" << lock.waiting << R"(,"declared":)"
        << (lock.declared ? "true" : "false");
    if (!lock.store.empty()) {
        out << R"(,"shared":)";
        out.quote(lock.store);
        out << R"(,"share":)" << lock.share;
    }
    out << R"(,"fence":)" << lock.fence << R"(,"holders":[)";
    for (std::size_t i = 0; i < lock.holders.size(); ++i) {
        out << (i == 0 ? "" : ",");
        write(out, lock.holders[i], ids);
    }
    out << R"(],"waiters":[)";
    for (std::size_t i = 0; i < lock.waiters.size(); ++i) {
        out << (i == 0 ? R"({"owner":)" : R"(,{"owner":)");
        out.quote(lock.waiters[i].owner);
        out << R"(,"waiting_ms":)" << lock.waiters[i].waiting << "}";
    }
    out << "]}";
}

} // namespace

std::string to_json(const locks::LockState& lock, Ids ids) {
    Text out;
    write(out, lock, ids);
    out << "\n";
    return out.take();
}

std::string to_json(const locks::LockList& list, Ids ids) {
    Text out;
    out << R"({"locks":[)";
    for (std::size_t i = 0; i < list.locks.size(); ++i) {
        out << (i == 0 ? "" : ",");
        write(out, list.locks[i], ids);
    }
    out << R"(],"more":)" << (list.more ? "true" : "false") << "}\n";
    return out.take();
}

} // namespace stint::permits
