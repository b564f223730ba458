#include "redis/resp/value.hpp"

#include <cstddef>

namespace stint::redis {

bool Value::is_text() const noexcept {
    return kind == Kind::simple || kind == Kind::bulk || kind == Kind::verbatim;
}

bool Value::is_list() const noexcept {
    return kind == Kind::array || kind == Kind::set || kind == Kind::map || kind == Kind::push;
}

const Value* Value::member(std::string_view key) const noexcept {
    if (kind != Kind::map && kind != Kind::array)
        return nullptr;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].is_text() && items[i].text == key)
            return &items[i + 1];
    return nullptr;
}

std::string_view code_of(std::string_view error) noexcept {
    return error.substr(0, error.find(' '));
}

} // namespace stint::redis
