#include "runtime/check_warnings.hpp"

#include "admission/door.hpp"
#include "config/schema/key_sources.hpp"
#include "config/schema/used_limits.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace stint::runtime {
namespace {

using admission::Door;
using admission::Feature;

std::string_view to_text(Door door) noexcept {
    switch (door) {
    case Door::proxy:
        break;
    case Door::check:
        return "/v1/check";
    case Door::explain:
        return "POST /explain";
    case Door::simulate:
        return "stint simulate";
    }
    return {};
}

// Finds the listeners, routes and limits of a configuration that use a feature.
class Concerned {
  public:
    explicit Concerned(const config::Config& config)
        : config_{config}, used_limits_{config::limits_of_routes(config)} {}

    std::vector<std::string> by(Feature feature) const {
        switch (feature) {
        case Feature::redirect_http:
            return listeners();
        case Feature::max_body:
            return routes([this](const config::Route& route) {
                return route.max_body.has_value() || config_.max_body.has_value();
            });
        case Feature::require_fence:
            return routes(
                [](const config::Route& route) { return route.require_fence.has_value(); });
        case Feature::cooldown:
            return routes(
                [this](const config::Route& route) { return cooldown_of(route) != nullptr; });
        case Feature::cooldown_wait:
            return routes([this](const config::Route& route) {
                const config::Cooldown* const cooldown = cooldown_of(route);
                return cooldown != nullptr && cooldown->wait.has_value();
            });
        case Feature::respond: // without listeners the gateway answers no request itself
            return routes([this](const config::Route& route) {
                return route.answer.has_value() && !config_.listeners.empty();
            });
        case Feature::concurrency_limit:
            return limits(
                [](const config::Limit& limit) { return limit.kind == config::Limit::Kind::cap; });
        case Feature::settlement:
            return limits([](const config::Limit& limit) {
                return !limit.count_when.empty() || !limit.refund.empty() ||
                       !limit.cost_response_field.empty();
            });
        case Feature::response_cost:
            return limits(
                [](const config::Limit& limit) { return !limit.cost_response_field.empty(); });
        case Feature::tls_subject:
            return of_tls_subject();
        case Feature::prepaid_permit:
            return config_.permits ? std::vector<std::string>{"permits"}
                                   : std::vector<std::string>{};
        case Feature::max_forwards: // no configuration setting turns Max-Forwards on or off
        case Feature::queue:
        case Feature::reservation:
            break;
        }
        return {};
    }

  private:
    // Returns the used limits with tls:subject in a key, and the routes whose cooldown key has it.
    std::vector<std::string> of_tls_subject() const {
        const auto reads_it = [](const std::vector<config::KeySource>& sources) {
            return std::ranges::any_of(sources, [](const config::KeySource& source) {
                return source.kind == config::KeySource::Kind::tls_subject;
            });
        };
        std::vector<std::string> names = limits(
            [&](const config::Limit& limit) { return reads_it(config::key_sources(limit)); });
        std::ranges::move(
            routes([&](const config::Route& route) {
                const config::Cooldown* const cooldown = cooldown_of(route);
                return cooldown != nullptr && reads_it(cooldown->key);
            }),
            std::back_inserter(names));
        return names;
    }
    const config::Cooldown* cooldown_of(const config::Route& route) const {
        const auto* cooldown = route.cooldown ? &*route.cooldown : nullptr;
        if (cooldown == nullptr && !route.answer && config_.upstreams[route.upstream].cooldown)
            cooldown = &*config_.upstreams[route.upstream].cooldown;
        return cooldown != nullptr && cooldown->on ? cooldown : nullptr;
    }
    std::vector<std::string> listeners() const {
        std::vector<std::string> names;
        for (const config::Listener& listener : config_.listeners)
            if (listener.https_port != 0)
                names.push_back("the listener " + listener.address.text);
        return names;
    }
    template <class Has>
    std::vector<std::string> routes(Has has) const {
        std::vector<std::string> names;
        for (const config::Route& route : config_.routes)
            if (has(route))
                names.push_back("the route " + route.name);
        return names;
    }
    // Returns the limits that at least one route uses and for which `has` is true.
    template <class Has>
    std::vector<std::string> limits(Has has) const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < config_.limits.size(); ++i)
            if (used_limits_[i] && has(config_.limits[i]))
                names.push_back("the limit " + config_.limits[i].name);
        return names;
    }

    const config::Config& config_;
    const std::vector<bool> used_limits_; // same indices as Config::limits
};

std::string_view noun_of(Feature feature) noexcept {
    switch (feature) {
    case Feature::redirect_http:
        return "redirect_http";
    case Feature::max_body:
        return "max_body";
    case Feature::require_fence:
        return "require_fence";
    case Feature::cooldown:
        return "the cooldown";
    case Feature::cooldown_wait:
        return "when_paused: wait";
    case Feature::respond:
        return "the response";
    case Feature::response_cost:
        return "the response's cost";
    case Feature::tls_subject:
        return "tls:subject";
    case Feature::prepaid_permit:
        return "X-Stint-Permit";
    case Feature::max_forwards:
    case Feature::concurrency_limit:
    case Feature::settlement:
    case Feature::queue:
    case Feature::reservation:
        break;
    }
    return {};
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

} // namespace

std::vector<std::string> check_warnings(const config::Config& config) {
    const Concerned concerned{config};
    std::vector<std::string> notes;
    for (const auto& [door, feature, reason] : admission::differences) {
        if (door == Door::check && !config.permits)
            continue;
        const std::vector<std::string> names = concerned.by(feature);
        if (names.empty())
            continue;
        std::string note{to_text(door)};
        note.append(" leaves out ").append(noun_of(feature));
        note.append(noun_of(feature).empty() ? "" : " of ").append(joined(names));
        notes.push_back(note.append(": it ").append(reason));
    }
    return notes;
}

} // namespace stint::runtime
