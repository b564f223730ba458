#include "permits/ask.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <span>

namespace stint::permits {
namespace {

namespace json = boost::json;

constexpr std::uint64_t most_cost = 1'000'000'000'000;
constexpr std::uint64_t longest_per_ms = 366ULL * 24 * 3600 * 1000;

// A body that is wrong: what the caller is told.
struct Mistake {
    std::string text;
};

std::string quoted(std::string_view text) {
    return '"' + std::string{text.substr(0, 100)} + '"';
}

// An object's members. Throws Mistake.
class Members {
  public:
    Members(const json::object& object, std::span<const std::string_view> known) : object_{object} {
        for (const auto& member : object_)
            if (std::ranges::find(known, std::string_view{member.key()}) == known.end())
                throw Mistake{quoted(member.key()) + " is unknown: there are " + list(known) + '.'};
    }

    [[nodiscard]] std::optional<std::string_view>
    text(std::string_view name, std::size_t longest = longest_name) const {
        const json::value* const value = find(name);
        if (value == nullptr)
            return std::nullopt;
        if (!value->is_string())
            throw Mistake{quoted(name) + " must be a text."};
        const std::string_view text = value->get_string();
        if (text.size() > longest)
            throw Mistake{quoted(name) + " is longer than " + std::to_string(longest) + " bytes."};
        return text;
    }

    [[nodiscard]] bool flag(std::string_view name) const {
        const json::value* const value = find(name);
        if (value == nullptr)
            return false;
        if (!value->is_bool())
            throw Mistake{quoted(name) + " must be true or false."};
        return value->get_bool();
    }

    [[nodiscard]] std::optional<std::uint64_t>
    number(std::string_view name, std::uint64_t least, std::uint64_t most) const {
        const json::value* const value = find(name);
        if (value == nullptr)
            return std::nullopt;
        const bool whole = (value->is_int64() && value->get_int64() >= 0) || value->is_uint64();
        const std::uint64_t number = !whole ? 0
                                     : value->is_int64()
                                         ? static_cast<std::uint64_t>(value->get_int64())
                                         : value->get_uint64();
        if (!whole || number < least || number > most)
            throw Mistake{
                quoted(name) + " must be a whole number from " + std::to_string(least) + " to " +
                std::to_string(most) + '.'};
        return number;
    }

    [[nodiscard]] const json::value* find(std::string_view name) const {
        const json::value* const value = object_.if_contains(name);
        return value == nullptr || value->is_null() ? nullptr : value;
    }

  private:
    static std::string list(std::span<const std::string_view> known) {
        std::string text;
        for (const std::string_view each : known)
            text.append(text.empty() ? "" : ", ").append(each);
        return text;
    }

    const json::object& object_;
};

constexpr std::array<std::string_view, 9> take_members{
    "key", "cost", "wait_ms", "owner", "idempotency_key", "ticket", "batch", "requests", "per_ms"};
constexpr std::array<std::string_view, 5> list_members{
    "limits", "wait_ms", "owner", "idempotency_key", "ticket"};
constexpr std::array<std::string_view, 5> item_members{"name", "key", "cost", "requests", "per_ms"};
constexpr std::array<std::string_view, 6> feedback_members{"route", "limit",  "key",
                                                           "host",  "status", "retry_after"};

Wanted wanted_in(const Members& members, std::string_view name) {
    Wanted wanted{.name = name, .key = members.text("key")};
    wanted.cost = members.number("cost", 0, most_cost).value_or(1);
    const auto requests = members.number("requests", 1, most_cost);
    const auto per = members.number("per_ms", 1, longest_per_ms);
    if (requests.has_value() != per.has_value())
        throw Mistake{
            "\"requests\" and \"per_ms\" bring a limit together; one of them is missing."};
    if (requests)
        wanted.brought = Brought{*requests, std::chrono::milliseconds{*per}};
    return wanted;
}

void read_terms(const Members& members, TakeAsk& ask) {
    const auto most_wait = static_cast<std::uint64_t>(longest_wait.count());
    ask.wait = std::chrono::milliseconds{members.number("wait_ms", 0, most_wait).value_or(0)};
    ask.owner = members.text("owner").value_or("");
    ask.ticket = members.flag("ticket");
    if (const auto key = members.text("idempotency_key", longest_idempotency_key)) {
        if (key->empty())
            throw Mistake{"\"idempotency_key\" is empty."};
        ask.idempotency_key = *key;
    }
}

void read_batch(const Members& members, TakeAsk& ask) {
    ask.batch = members.number("batch", 1, largest_batch).value_or(0);
    if (ask.batch == 0)
        return;
    if (members.find("cost") != nullptr || ask.ticket)
        throw Mistake{"\"batch\" goes with neither \"cost\" nor \"ticket\"."};
}

void read_list(const Members& members, TakeAsk& ask) {
    ask.listed = true;
    const json::value* const list = members.find("limits");
    if (list == nullptr || !list->is_array() || list->get_array().empty())
        throw Mistake{"\"limits\" must be a list of objects such as {\"name\": \"shop\"}."};
    if (list->get_array().size() > limits::max_charges)
        throw Mistake{
            "\"limits\" has more than " + std::to_string(limits::max_charges) + " items."};
    for (const json::value& item : list->get_array()) {
        if (!item.is_object())
            throw Mistake{"Each of \"limits\" must be an object such as {\"name\": \"shop\"}."};
        const Members each{item.get_object(), item_members};
        const auto name = each.text("name");
        if (!name || name->empty())
            throw Mistake{"Each of \"limits\" needs the \"name\" of a limit."};
        ask.limits.push_back(wanted_in(each, *name));
    }
}

} // namespace

Result<const json::object*, std::string> AskReader::parse(std::string_view body) {
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
    return &value_->get_object();
}

Result<TakeAsk, std::string>
AskReader::read_take(std::string_view body, std::optional<std::string_view> name) {
    const auto object = parse(body);
    if (!object)
        return object.error();
    TakeAsk ask;
    try {
        if (name) {
            const Members members{**object, take_members};
            read_terms(members, ask);
            ask.limits.push_back(wanted_in(members, *name));
            read_batch(members, ask);
        } else {
            const Members members{**object, list_members};
            read_terms(members, ask);
            read_list(members, ask);
        }
    } catch (const Mistake& mistake) {
        return mistake.text;
    }
    return ask;
}

Result<FeedbackAsk, std::string> AskReader::read_feedback(std::string_view body) {
    using Read = Result<FeedbackAsk, std::string>;
    const auto object = parse(body);
    if (!object)
        return Read{boost::system::in_place_error, object.error()};
    FeedbackAsk ask;
    try {
        const Members members{**object, feedback_members};
        ask.route = members.text("route").value_or("");
        ask.limit = members.text("limit").value_or("");
        ask.key = members.text("key");
        ask.host = members.text("host");
        ask.retry_after = members.text("retry_after");
        const auto status = members.number("status", 100, 599);
        if (ask.route.empty() == ask.limit.empty())
            throw Mistake{"Exactly one of \"route\" and \"limit\" must be named."};
        if (!status)
            throw Mistake{"\"status\" is missing: what the upstream answered."};
        ask.status = static_cast<int>(*status);
    } catch (const Mistake& mistake) {
        return Read{boost::system::in_place_error, mistake.text};
    }
    return ask;
}

} // namespace stint::permits
