#include "routing/fence.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace stint::routing {
namespace {

bool only_reads(std::string_view method) noexcept {
    constexpr std::array<std::string_view, 4> methods{"GET", "HEAD", "OPTIONS", "TRACE"};
    return std::ranges::find(methods, method) != methods.end();
}

bool read_number(std::string_view text, std::uint64_t& number) noexcept {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stopped == end;
}

} // namespace

ShownFence::ShownFence(std::string_view method, std::span<const Field> fields) noexcept {
    if (only_reads(method))
        return;
    const auto is_fence = [](const Field& field) { return field.id == FieldId::x_stint_fence; };
    const auto shown = std::ranges::find_if(fields, is_fence);
    if (shown == fields.end())
        fault_ = Fault::missing;
    else if (std::any_of(shown + 1, fields.end(), is_fence) || !read_number(shown->value, number_))
        fault_ = Fault::malformed;
}

std::string describe(ShownFence::Fault fault) {
    switch (fault) {
    case ShownFence::Fault::none:
        break;
    case ShownFence::Fault::missing:
        return "this method needs X-Stint-Fence with the number that came with the lease";
    case ShownFence::Fault::malformed:
        return "X-Stint-Fence must be there once, and be the number that came with the lease";
    case ShownFence::Fault::outdated:
        return "the number in X-Stint-Fence is out of date, as the lock has been given out again";
    }
    return {};
}

} // namespace stint::routing
