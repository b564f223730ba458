// Reading the members of a client's JSON object. Internal to permits/.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stint::permits {

// An error in the body: a sentence for the client.
struct RequestError {
    std::string text;
};

inline std::string quoted(std::string_view text) {
    return '"' + std::string{text.substr(0, 100)} + '"';
}

// Reads the members of a JSON object by name and type. A missing or null member reads as nothing, a
// missing flag as false. Throws RequestError for an unknown member or a wrong value.
class JsonObjectReader {
  public:
    JsonObjectReader(const boost::json::object& object, std::span<const std::string_view> known)
        : object_{object} {
        for (const auto& member : object_)
            if (std::ranges::find(known, std::string_view{member.key()}) == known.end())
                throw RequestError{
                    quoted(member.key()) + " is unknown: there are " + list(known) + '.'};
    }

    [[nodiscard]] std::optional<std::string_view>
    text(std::string_view name, std::size_t longest) const {
        const boost::json::value* const value = find(name);
        if (value == nullptr)
            return std::nullopt;
        if (!value->is_string())
            throw RequestError{quoted(name) + " must be a text."};
        const std::string_view text = value->get_string();
        if (text.size() > longest)
            throw RequestError{
                quoted(name) + " is longer than " + std::to_string(longest) + " bytes."};
        return text;
    }

    [[nodiscard]] bool flag(std::string_view name) const {
        const boost::json::value* const value = find(name);
        if (value == nullptr)
            return false;
        if (!value->is_bool())
            throw RequestError{quoted(name) + " must be true or false."};
        return value->get_bool();
    }

    [[nodiscard]] std::optional<std::uint64_t>
    number(std::string_view name, std::uint64_t least, std::uint64_t most) const {
        const boost::json::value* const value = find(name);
        if (value == nullptr)
            return std::nullopt;
        const bool whole = (value->is_int64() && value->get_int64() >= 0) || value->is_uint64();
        const std::uint64_t number = !whole ? 0
                                     : value->is_int64()
                                         ? static_cast<std::uint64_t>(value->get_int64())
                                         : value->get_uint64();
        if (!whole || number < least || number > most)
            throw RequestError{
                quoted(name) + " must be a whole number from " + std::to_string(least) + " to " +
                std::to_string(most) + '.'};
        return number;
    }

    [[nodiscard]] const boost::json::value* find(std::string_view name) const {
        const boost::json::value* const value = object_.if_contains(name);
        return value == nullptr || value->is_null() ? nullptr : value;
    }

  private:
    static std::string list(std::span<const std::string_view> known) {
        std::string text;
        for (const std::string_view each : known)
            text.append(text.empty() ? "" : ", ").append(each);
        return text;
    }

    const boost::json::object& object_;
};

} // namespace stint::permits
