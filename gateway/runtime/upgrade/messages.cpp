#include "runtime/upgrade/messages.hpp"

#include "base/bytes.hpp"

#include <utility>

namespace stint::runtime {
namespace {

void put_hash(std::string& out, const Hash128& hash) {
    put(out, hash.high);
    put(out, hash.low);
}

Hash128 take_hash(ByteReader& in) {
    Hash128 hash;
    hash.high = in.take<std::uint64_t>();
    hash.low = in.take<std::uint64_t>();
    return hash;
}

void put_time(std::string& out, SteadyTime time) {
    put(out, static_cast<std::int64_t>(time.time_since_epoch().count()));
}

SteadyTime take_time(ByteReader& in) {
    return SteadyTime{Duration{in.take<std::int64_t>()}};
}

void put_pause(std::string& out, const limits::SharedPause& pause) {
    put(out, static_cast<std::int32_t>(pause.status));
    put_time(out, pause.end);
}

limits::SharedPause take_pause(ByteReader& in) {
    const auto status = in.take<std::int32_t>();
    return {status, take_time(in)};
}

void put_rows(std::string& out, const std::vector<state::Row>& rows) {
    put(out, static_cast<std::uint64_t>(rows.size()));
    for (const state::Row& row : rows) {
        put_text(out, row.key);
        put_text(out, row.value);
    }
}

std::vector<state::Row> take_rows(ByteReader& in) {
    std::vector<state::Row> rows;
    for (auto left = in.take<std::uint64_t>(); left > 0 && in.good(); --left) {
        std::string key{in.take_text()};
        rows.push_back({std::move(key), std::string{in.take_text()}});
    }
    return rows;
}

template <class T>
std::optional<T> if_whole(T value, const ByteReader& in) {
    return in.good() && in.rest().empty() ? std::optional{std::move(value)} : std::nullopt;
}

} // namespace

std::string encode(const HandedState& state) {
    std::string out;
    put_rows(out, state.contents.own);
    put_rows(out, state.contents.counters);
    put_rows(out, state.contents.leases);
    put_rows(out, state.contents.changes);
    put(out, static_cast<std::uint64_t>(state.slots.size()));
    for (const HeldSlot& each : state.slots) {
        put_text(out, each.limit);
        put_hash(out, each.key);
        put(out, each.slots);
    }
    put(out, static_cast<std::uint64_t>(state.drained.size()));
    for (const DrainedEndpoint& each : state.drained) {
        put_text(out, each.upstream);
        put_text(out, each.endpoint);
        put_text(out, each.by.who);
        put_text(out, each.by.why);
    }
    put(out, static_cast<std::uint64_t>(state.reported.size()));
    for (const ReportedPause& each : state.reported) {
        put_text(out, each.limit);
        put_hash(out, each.key);
        put_pause(out, each.pause);
    }
    put_text(out, state.ticket_keys);
    return out;
}

std::optional<HandedState> decode_state(std::string_view body) {
    ByteReader in{body};
    HandedState state;
    state.contents.own = take_rows(in);
    state.contents.counters = take_rows(in);
    state.contents.leases = take_rows(in);
    state.contents.changes = take_rows(in);
    for (auto left = in.take<std::uint64_t>(); left > 0 && in.good(); --left) {
        HeldSlot& each = state.slots.emplace_back();
        each.limit = in.take_text();
        each.key = take_hash(in);
        each.slots = in.take<std::uint64_t>();
    }
    for (auto left = in.take<std::uint64_t>(); left > 0 && in.good(); --left) {
        DrainedEndpoint& each = state.drained.emplace_back();
        each.upstream = in.take_text();
        each.endpoint = in.take_text();
        each.by.who = in.take_text();
        each.by.why = in.take_text();
    }
    for (auto left = in.take<std::uint64_t>(); left > 0 && in.good(); --left) {
        ReportedPause& each = state.reported.emplace_back();
        each.limit = in.take_text();
        each.key = take_hash(in);
        each.pause = take_pause(in);
    }
    state.ticket_keys = in.take_text();
    return if_whole(std::move(state), in);
}

std::string encode(const GivenBack& given) {
    std::string out;
    put_text(out, given.limit);
    put_hash(out, given.key);
    put(out, given.receipt.mark);
    put(out, given.receipt.cost);
    put(out, given.receipt.quota);
    put(out, given.receipt.returned);
    put(out, static_cast<std::uint8_t>(given.receipt.overflow));
    put(out, given.cost);
    return out;
}

std::optional<GivenBack> decode_given_back(std::string_view body) {
    ByteReader in{body};
    GivenBack given;
    given.limit = in.take_text();
    given.key = take_hash(in);
    given.receipt.mark = in.take<std::int64_t>();
    given.receipt.cost = in.take<std::uint64_t>();
    given.receipt.quota = in.take<std::uint64_t>();
    given.receipt.returned = in.take<std::int64_t>();
    given.receipt.overflow = in.take<std::uint8_t>() != 0;
    given.cost = in.take<std::uint64_t>();
    return if_whole(std::move(given), in);
}

std::string encode(const HandedPause& pause) {
    std::string out;
    put_text(out, pause.of.owner);
    put_text(out, pause.of.scope);
    put_hash(out, pause.digest);
    put_pause(out, pause.pause);
    put(out, static_cast<std::uint8_t>(pause.key.has_value()));
    if (pause.key) {
        put_hash(out, pause.key->first);
        put_text(out, pause.key->second);
    }
    return out;
}

std::optional<HandedPause> decode_pause(std::string_view body) {
    ByteReader in{body};
    HandedPause pause;
    pause.of.owner = in.take_text();
    pause.of.scope = in.take_text();
    pause.digest = take_hash(in);
    pause.pause = take_pause(in);
    if (in.take<std::uint8_t>() != 0) {
        const Hash128 key = take_hash(in);
        pause.key.emplace(key, in.take_text());
    }
    return if_whole(std::move(pause), in);
}

std::string encode(const server::HandedConnection& connection) {
    std::string out;
    put_text(out, connection.client.bytes());
    put_text(out, connection.received);
    put(out, static_cast<std::uint8_t>(connection.permits));
    put(out, static_cast<std::uint8_t>(connection.half_close_allowed));
    put(out, connection.https_port);
    put(out, static_cast<std::uint8_t>(connection.secure));
    put_text(out, connection.tls_subject);
    put_text(out, connection.tls_version);
    put(out, static_cast<std::uint8_t>(connection.last));
    put_time(out, connection.waiting_since);
    return out;
}

std::optional<server::HandedConnection> decode_connection(std::string_view body) {
    ByteReader in{body};
    server::HandedConnection connection;
    connection.client = IpAddress::from_bytes(in.take_text());
    connection.received = in.take_text();
    connection.permits = in.take<std::uint8_t>() != 0;
    connection.half_close_allowed = in.take<std::uint8_t>() != 0;
    connection.https_port = in.take<std::uint16_t>();
    connection.secure = in.take<std::uint8_t>() != 0;
    connection.tls_subject = in.take_text();
    connection.tls_version = in.take_text();
    connection.last = in.take<std::uint8_t>() != 0;
    connection.waiting_since = take_time(in);
    return if_whole(std::move(connection), in);
}

} // namespace stint::runtime
