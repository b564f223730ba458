#include "admin/top.hpp"

#include "admin/named_limit.hpp"
#include "http/query.hpp"
#include "net/event.hpp"
#include "observe/json_line.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace stint::admin {
namespace {

using limits::HeavyHitters;

constexpr std::size_t shown_by_default = 50;

std::optional<std::size_t> wanted(std::string_view query) {
    const auto text = http::parameter(query, "n");
    if (!text)
        return shown_by_default;
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
    const bool whole = error == std::errc{} && end == text->data() + text->size();
    if (!whole || count < 1 || count > limits::SpaceSaving::capacity)
        return std::nullopt;
    return count;
}

std::optional<HeavyHitters::By> wanted_rank(std::string_view query) {
    const std::string_view text = http::parameter(query, "by").value_or("requests");
    if (text == "requests")
        return HeavyHitters::By::requests;
    if (text == "refused")
        return HeavyHitters::By::refused;
    if (text == "would_refuse")
        return HeavyHitters::By::would_refuse;
    return std::nullopt;
}

net::Task<HeavyHitters::Top> collected(
    runtime::Gateway& gateway, limits::LimitPtr limit, std::size_t most, HeavyHitters::By by) {
    net::Event arrived;
    HeavyHitters::Top top;
    // The callback is posted to this thread, so it never runs before wait().
    gateway.pool().collect_top(limit, most, by, [&](const HeavyHitters::Top& merged) {
        top = merged;
        arrived.signal();
    });
    co_await arrived.wait();
    co_return top;
}

} // namespace

Json top_json(const HeavyHitters::Top& top, const Now& now) {
    std::string since;
    observe::append_rfc3339(since, now.wall - top.span);
    Json keys = Json::array();
    for (const HeavyHitters::Listed& listed : top.keys) {
        Json key{
            {"key", listed.text},
            {"requests", listed.requests},
            {"refused", listed.refused},
            {"would_refuse", listed.would_refuse},
            {"at_most_over_by", listed.over}};
        if (listed.cut)
            key["cut"] = true;
        keys.push_back(std::move(key));
    }
    return {{"since", since}, {"others_at_most", top.unlisted}, {"top", keys}};
}

net::Task<Response> top_of_limit(runtime::Gateway& gateway, std::string name, std::string query) {
    const auto named = keyed_limit(gateway, name);
    if (!named)
        co_return named.error();
    const limits::LimitPtr limit = named->limit.limit;
    const auto most = wanted(query);
    if (!most)
        co_return problem(400, "?n= is how many keys to show: a number from 1 to 256.");
    const auto by = wanted_rank(query);
    if (!by)
        co_return problem(
            400, "?by= is the count that ranks the keys: requests, refused or would_refuse.");
    HeavyHitters::Top top = co_await collected(gateway, limit, *most, *by);
    const Now now = gateway.now();
    top.span = std::min<Duration>(top.span, now.wall - gateway.started_at());
    Json json{{"name", name}, {"key", limit->identity().key}};
    json.update(top_json(top, now));
    co_return json_response(json);
}

} // namespace stint::admin
