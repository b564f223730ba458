#include "admission/share_wait.hpp"

#include "limits/limit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace stint::admission {
namespace {

// Calls the function with the index of each bit, lowest first.
template <class F>
void for_each_bit(std::uint32_t bits, F f) {
    for (; bits != 0; bits &= bits - 1)
        f(static_cast<std::size_t>(std::countr_zero(bits)));
}

limits::ShareWanted
wanted(const routing::Charges& charges, const WaitTermsList& terms, std::size_t i) noexcept {
    const limits::Charge& charge = charges.charges[i];
    return {
        .limit = charges.limits[i]->limit,
        .key = charge.key,
        .key_text = terms[i].key ? std::string_view{*terms[i].key} : std::string_view{},
        .numbers = {charge.quota, charge.burst},
        .pace = charge.pace,
        .cost = charge.cost};
}

// Returns true if the store of charge i cannot tell whether the share can grow: it cannot be asked,
// or it was asked and `failed` to answer.
bool lacks_store(const routing::Charges& charges, std::size_t i, bool failed) noexcept {
    return failed || !charges.limits[i]->limit->share_policy().asking();
}

} // namespace

ShareWait::ShareWait(
    const routing::Charges& charges, WaitTermsList terms, ShareAnswerListener& listener)
    : charges_{charges}, terms_{std::move(terms)}, listener_{listener} {
    for (limits::Charge& each : charges_.charges)
        each.refundable = true; // a pause may begin during the wait
}

void ShareWait::ask(limits::ShareRequests& of, const limits::Decision& refused, const Now& now) {
    // A dry run (a bit that is not in `refusing`) neither makes the request wait nor fails it.
    const std::uint32_t asked = refused.refusing & refused.ask_store;
    Duration timeout = Duration::max();
    for_each_bit(asked, [&](std::size_t i) {
        timeout = std::min(timeout, charges_.limits[i]->shared->timeout);
    });
    begin(of, static_cast<std::size_t>(std::popcount(asked)));
    listener_.shares_asked(now.steady + timeout);
    for_each_bit(asked, [&](std::size_t i) {
        Request::ask(*charges_.limits[i]->shared->store, wanted(charges_, terms_, i));
    });
}

void ShareWait::answered(limits::ShareAnswer answer) noexcept {
    told_ = answer == limits::ShareAnswer::told;
    listener_.shares_answered();
}

limits::Decision shares_for(const routing::Charges& charges, const Now& now) {
    const auto shared = [](routing::AppliedLimit each) { return each->shared.has_value(); };
    if (std::ranges::none_of(charges.limits, shared)) [[likely]]
        return {};
    std::array<limits::ChargeState, limits::max_charges> states;
    return limits::preview(charges.view(), now, {states.data(), charges.charges.size()});
}

void ask_for_dry_run(
    limits::ShareRequests& of,
    const routing::Charges& charges,
    const WaitTermsList& terms,
    std::uint32_t lacking) {
    for_each_bit(lacking, [&](std::size_t i) {
        of.ask(*charges.limits[i]->shared->store, wanted(charges, terms, i));
    });
}

bool can_ask(const limits::Decision& refused, std::uint32_t waiting) noexcept {
    const bool asks = (refused.refusing & refused.ask_store) != 0;
    const std::uint32_t others = refused.refusing & ~refused.ask_store;
    return asks && (others & ~waiting) == 0 && refused.refusal != limits::Refusal::cost;
}

std::optional<routing::Charges>
without_shares(const routing::Charges& charges, const limits::Decision& refused, bool failed) {
    bool all = refused.refusing != 0 && (refused.refusing & ~refused.lacks_share) == 0;
    routing::Charges opened = charges;
    for_each_bit(refused.refusing, [&](std::size_t i) {
        const routing::LimitTerms& limit = *charges.limits[i].terms;
        all = all && limit.shared->on_failure == limits::OnStoreFailure::open &&
              lacks_store(charges, i, failed);
        opened.charges[i].ignore_share = true;
    });
    return all ? std::optional{opened} : std::nullopt;
}

bool is_for_want_of_store(
    const routing::Charges& charges,
    const limits::Decision& refused,
    bool failed,
    const Now& now) noexcept {
    const std::size_t i = refused.refused_by;
    return (refused.lacks_share >> i & 1U) != 0 && lacks_store(charges, i, failed) &&
           limits::numbers_of(charges.charges[i], now).quota == 0;
}

} // namespace stint::admission
