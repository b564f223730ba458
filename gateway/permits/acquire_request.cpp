#include "permits/acquire_request.hpp"

#include "permits/json_object_reader.hpp"

namespace stint::permits {
namespace {

namespace json = boost::json;

constexpr std::uint64_t most_cost = 1'000'000'000'000;
constexpr std::uint64_t longest_per_ms = 366ULL * 24 * 3600 * 1000;

constexpr std::array<std::string_view, 9> take_members{
    "key", "cost", "wait_ms", "owner", "idempotency_key", "ticket", "batch", "requests", "per_ms"};
constexpr std::array<std::string_view, 5> list_members{
    "limits", "wait_ms", "owner", "idempotency_key", "ticket"};
constexpr std::array<std::string_view, 5> item_members{"name", "key", "cost", "requests", "per_ms"};
constexpr std::array<std::string_view, 6> feedback_members{"route", "limit",  "key",
                                                           "host",  "status", "retry_after"};

constexpr std::array<std::string_view, 6> lease_members{"max",   "wait_ms",         "ttl_ms",
                                                        "owner", "idempotency_key", "reentrant"};
constexpr std::array<std::string_view, 1> renewal_members{"ttl_ms"};

Duration wait_in(const JsonObjectReader& members) {
    const auto most = static_cast<std::uint64_t>(longest_wait.count());
    return std::chrono::milliseconds{members.number("wait_ms", 0, most).value_or(0)};
}

std::string_view idempotency_key_in(const JsonObjectReader& members) {
    const auto key = members.text("idempotency_key", longest_idempotency_key);
    if (key && key->empty())
        throw RequestError{"\"idempotency_key\" is empty."};
    return key.value_or("");
}

std::optional<Duration> ttl_in(const JsonObjectReader& members, Duration longest) {
    const auto most = static_cast<std::uint64_t>(ceil_ms(longest));
    const auto ttl = members.number("ttl_ms", 1, most);
    return ttl ? std::optional<Duration>{std::chrono::milliseconds{*ttl}} : std::nullopt;
}

Wanted wanted_in(const JsonObjectReader& members, std::string_view name) {
    Wanted wanted{.name = name, .key = members.text("key", longest_name)};
    wanted.cost = members.number("cost", 0, most_cost).value_or(1);
    const auto requests = members.number("requests", 1, most_cost);
    const auto per = members.number("per_ms", 1, longest_per_ms);
    if (requests.has_value() != per.has_value())
        throw RequestError{
            "\"requests\" and \"per_ms\" bring a limit together; one of them is missing."};
    if (requests)
        wanted.brought = Brought{*requests, std::chrono::milliseconds{*per}};
    return wanted;
}

void read_terms(const JsonObjectReader& members, AcquireRequest& ask) {
    ask.wait = wait_in(members);
    ask.owner = members.text("owner", longest_name).value_or("");
    ask.ticket = members.flag("ticket");
    ask.idempotency_key = idempotency_key_in(members);
}

void read_batch(const JsonObjectReader& members, AcquireRequest& ask) {
    ask.batch = members.number("batch", 1, largest_batch).value_or(0);
    if (ask.batch == 0)
        return;
    if (members.find("cost") != nullptr || ask.ticket)
        throw RequestError{"\"batch\" goes with neither \"cost\" nor \"ticket\"."};
}

void read_list(const JsonObjectReader& members, AcquireRequest& ask) {
    ask.listed = true;
    const json::value* const list = members.find("limits");
    if (list == nullptr || !list->is_array() || list->get_array().empty())
        throw RequestError{"\"limits\" must be a list of objects such as {\"name\": \"shop\"}."};
    if (list->get_array().size() > limits::max_charges)
        throw RequestError{
            "\"limits\" has more than " + std::to_string(limits::max_charges) + " items."};
    for (const json::value& item : list->get_array()) {
        if (!item.is_object())
            throw RequestError{
                "Each of \"limits\" must be an object such as {\"name\": \"shop\"}."};
        const JsonObjectReader each{item.get_object(), item_members};
        const auto name = each.text("name", longest_name);
        if (!name || name->empty())
            throw RequestError{"Each of \"limits\" needs the \"name\" of a limit."};
        ask.limits.push_back(wanted_in(each, *name));
    }
}

// Counts the object members written in well-formed JSON text, duplicates included.
std::size_t members_written(std::string_view text) noexcept {
    std::size_t members = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (in_string && text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            in_string = !in_string;
        else if (!in_string && text[at] == ':')
            ++members;
    }
    return members;
}

// Counts the object members of a parsed value, where the last duplicate has replaced the others.
std::size_t members_kept(const json::value& value) noexcept {
    std::size_t members = 0;
    if (const json::object* const object = value.if_object()) {
        members = object->size();
        for (const auto& member : *object)
            members += members_kept(member.value());
    } else if (const json::array* const array = value.if_array()) {
        for (const json::value& item : *array)
            members += members_kept(item);
    }
    return members;
}

} // namespace

Result<const json::object*, std::string> RequestReader::parse(std::string_view body) {
    using Parsed = Result<const json::object*, std::string>;
    value_.reset();
    resource_.release();
    parser_.reset(&resource_);
    json::error_code error;
    parser_.write(body.empty() ? std::string_view{"{}"} : body, error);
    if (error)
        return Parsed{
            boost::system::in_place_error, "The body is not JSON: " + error.message() + '.'};
    value_.emplace(parser_.release());
    if (!value_->is_object())
        return Parsed{
            boost::system::in_place_error, "The body must be a JSON object such as {\"cost\": 1}."};
    // Duplicate names are refused: JSON readers differ in which duplicate they take (RFC 8259
    // section 4), so a filter in front of the gateway may have checked another value.
    if (members_written(body) != members_kept(*value_))
        return Parsed{boost::system::in_place_error, "The body has a member twice."};
    return &value_->get_object();
}

Result<AcquireRequest, std::string>
RequestReader::read_take(std::string_view body, std::optional<std::string_view> name) {
    const auto object = parse(body);
    if (!object)
        return object.error();
    AcquireRequest ask;
    try {
        if (name) {
            const JsonObjectReader members{**object, take_members};
            read_terms(members, ask);
            ask.limits.push_back(wanted_in(members, *name));
            read_batch(members, ask);
        } else {
            const JsonObjectReader members{**object, list_members};
            read_terms(members, ask);
            read_list(members, ask);
        }
    } catch (const RequestError& mistake) {
        return mistake.text;
    }
    return ask;
}

Result<FeedbackRequest, std::string> RequestReader::read_feedback(std::string_view body) {
    using Read = Result<FeedbackRequest, std::string>;
    const auto object = parse(body);
    if (!object)
        return Read{boost::system::in_place_error, object.error()};
    FeedbackRequest ask;
    try {
        const JsonObjectReader members{**object, feedback_members};
        ask.route = members.text("route", longest_name).value_or("");
        ask.limit = members.text("limit", longest_name).value_or("");
        ask.key = members.text("key", longest_name);
        ask.host = members.text("host", longest_name);
        ask.retry_after = members.text("retry_after", longest_name);
        const auto status = members.number("status", 100, 599);
        if (ask.route.empty() == ask.limit.empty())
            throw RequestError{"Exactly one of \"route\" and \"limit\" must be named."};
        if (!status)
            throw RequestError{"\"status\" is missing: what the upstream answered."};
        ask.status = static_cast<int>(*status);
    } catch (const RequestError& mistake) {
        return Read{boost::system::in_place_error, mistake.text};
    }
    return ask;
}

Result<LockRequest, std::string>
RequestReader::read_lease(std::string_view body, Duration longest_ttl) {
    using Read = Result<LockRequest, std::string>;
    const auto object = parse(body);
    if (!object)
        return Read{boost::system::in_place_error, object.error()};
    LockRequest ask;
    try {
        const JsonObjectReader members{**object, lease_members};
        ask.max = members.number("max", 1, most_holders);
        ask.wait = wait_in(members);
        ask.ttl = ttl_in(members, longest_ttl).value_or(std::min<Duration>(usual_ttl, longest_ttl));
        ask.owner = members.text("owner", longest_name).value_or("");
        ask.idempotency_key = idempotency_key_in(members);
        ask.reentrant = members.flag("reentrant");
        if (ask.reentrant && ask.owner.empty())
            throw RequestError{"\"reentrant\" needs an \"owner\", who may come in again."};
    } catch (const RequestError& mistake) {
        return Read{boost::system::in_place_error, mistake.text};
    }
    return ask;
}

Result<std::optional<Duration>, std::string>
RequestReader::read_renewal(std::string_view body, Duration longest_ttl) {
    using Read = Result<std::optional<Duration>, std::string>;
    const auto object = parse(body);
    if (!object)
        return Read{boost::system::in_place_error, object.error()};
    try {
        return Read{
            boost::system::in_place_value,
            ttl_in(JsonObjectReader{**object, renewal_members}, longest_ttl)};
    } catch (const RequestError& mistake) {
        return Read{boost::system::in_place_error, mistake.text};
    }
}

} // namespace stint::permits
