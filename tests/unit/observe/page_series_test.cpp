#include "observe/page_series.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>

using namespace stint;
using namespace stint::observe;
using namespace std::chrono_literals;

namespace {

// Returns the samples of a page, without what the process itself uses.
std::map<std::string, double> samples_of(const std::string& text) {
    std::map<std::string, double> samples;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#') && !line.starts_with("process_"))
            samples[line.substr(0, line.rfind(' '))] = std::stod(line.substr(line.rfind(' ') + 1));
    return samples;
}

// A process with many names, and what its pages show.
struct ManyNames {
    WorkerCounters sum;
    MetricSlots slots;
    ProcessFigures figures;
    PageSeries series;

    explicit ManyNames(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string number = std::to_string(i);
            (void)slots.route("route" + number);
            (void)slots.refusal("route" + number, "limit" + number);
            (void)slots.upstream("shop" + number);
            (void)slots.wait("limit" + number);
            figures.limits.push_back({.name = "limit" + number, .keyed = i % 2 == 0, .quota = 10});
            figures.endpoints.push_back(
                {.upstream = "shop" + number,
                 .endpoint = "a:1",
                 .metric = static_cast<std::uint32_t>(i),
                 .up = true});
            figures.cooldowns.push_back({"route:route" + number, "route"});
            figures.locks.push_back({.name = "lock" + number, .max = 1});
        }
        figures.permits = true;
        sum.fit(count + 1, count, count, count);
    }

    // Counts a request of the route, and everything else that has the same number.
    void count(std::size_t number, std::uint64_t times = 1) {
        sum.routes[number + 1].requests[0][2] += times;
        sum.routes[number + 1].bytes_out += 10 * times;
        sum.refusals[number] += times;
        sum.dry_runs[number].would_refuse += times;
        sum.dry_runs[number].would_wait += 2 * times;
        sum.upstreams[number].connects += times;
        sum.upstreams[number].latency.observe(5ms);
        sum.upstreams[number].in_flight += times;
        sum.waits[number].refused += times;
        figures.limits[number].overflow += times;
        figures.endpoints[number].failures += times;
        figures.cooldowns[number].pauses += times;
        figures.locks[number].granted += times;
    }

    // Returns the samples of a page: "name{labels}" → value.
    std::map<std::string, double> page(std::size_t most) {
        const PageParts parts = series.bounded(sum, slots, figures, most);
        text = exposition(parts.sum, parts.slots, parts.figures);
        return samples_of(text);
    }

    std::string text; // of the last page
};

} // namespace

TEST_CASE("names that all fit are shown as if there were no bound") {
    ManyNames many{3};
    many.count(1, 4);

    CHECK(many.page(3) == samples_of(exposition(many.sum, many.slots, many.figures)));
}

TEST_CASE("names without series of their own are summed, of every kind") {
    ManyNames many{6};
    many.count(1, 5);
    many.count(2, 4);
    many.count(3, 3);
    many.count(4, 2);

    auto page = many.page(2);

    CHECK(
        page.at(R"x(stint_requests_total{route="route1",decision="forwarded",status="2xx"})x") ==
        5);
    CHECK(
        page.at(R"x(stint_requests_total{route="(other)",decision="forwarded",status="2xx"})x") ==
        5);
    CHECK(page.at(R"x(stint_response_bytes_total{route="(other)"})x") == 50);
    CHECK(page.at(R"x(stint_refusals_total{route="route2",limit="limit2"})x") == 4);
    CHECK(page.at(R"x(stint_refusals_total{route="(other)",limit="(other)"})x") == 5);
    CHECK(page.at(R"x(stint_would_refuse_total{route="route2",limit="limit2"})x") == 4);
    CHECK(page.at(R"x(stint_would_refuse_total{route="(other)",limit="(other)"})x") == 5);
    CHECK(page.at(R"x(stint_would_wait_total{route="(other)",limit="(other)"})x") == 10);
    CHECK(page.at(R"x(stint_upstream_connects_total{upstream="(other)"})x") == 5);
    CHECK(page.at(R"x(stint_upstream_latency_seconds_count{upstream="(other)"})x") == 2);
    CHECK(page.at(R"x(stint_limit_refused_after_waiting_total{limit="(other)"})x") == 5);
    CHECK(page.at(R"x(stint_limit_overflow_total{limit="(other)"})x") == 5);
    const std::string endpoint = R"x({upstream="(other)",endpoint="(other)"})x";
    CHECK(page.at("stint_endpoint_failures_total" + endpoint) == 5);
    CHECK(page.at("stint_endpoint_requests_in_flight" + endpoint) == 5);
    CHECK(page.at("stint_endpoint_up" + endpoint) == 1);
    CHECK(page.at(R"x(stint_cooldown_pauses_total{of="(other)",scope="(other)"})x") == 5);
    CHECK(page.at(R"x(stint_lock_leases_total{lock="(other)",decision="granted"})x") == 5);
    CHECK_FALSE(page.contains(R"x(stint_limit_quota{limit="(other)"})x"));
    CHECK(page.contains(R"x(stint_requests_in_flight{route="(none)"})x"));
    CHECK(many.text.find("route3") == std::string::npos);
    CHECK(many.text.find("limit3") == std::string::npos);
    CHECK(many.text.find("shop3") == std::string::npos);
    CHECK(many.text.find("lock3") == std::string::npos);
}

TEST_CASE("the others' endpoint is up while all of them are") {
    ManyNames many{3};
    many.figures.endpoints[2].up = false;

    CHECK(many.page(0).at(R"x(stint_endpoint_up{upstream="(other)",endpoint="(other)"})x") == 0);
}

TEST_CASE("requests for permits stay apart from those of routes") {
    ManyNames many{2};
    const auto pair = many.slots.refusal(std::string{permits_route}, "limit0");
    many.sum.fit(0, pair + 1, 0);
    many.sum.granted[pair] = 7;
    many.sum.refusals[0] = 2;

    auto page = many.page(0);

    CHECK(page.at(R"x(stint_permits_total{limit="(other)",decision="granted"})x") == 7);
    CHECK(page.at(R"x(stint_refusals_total{route="(permits)",limit="(other)"})x") == 0);
    CHECK(page.at(R"x(stint_refusals_total{route="(other)",limit="(other)"})x") == 2);
}

TEST_CASE("no counter falls, whatever is used next and whatever leaves the configuration") {
    ManyNames many{12};
    std::map<std::string, double> last;
    for (std::size_t step = 0; step < 60; ++step) {
        many.count((step * step + step / 7) % many.figures.limits.size(), 1 + step % 3);
        if (step == 40) { // reloaded: some names are gone, the bound is another one
            many.figures.limits.erase(many.figures.limits.begin() + 9, many.figures.limits.end());
            many.figures.endpoints.resize(9);
            many.figures.cooldowns.resize(9);
            many.figures.locks.resize(9);
        }
        const auto page = many.page(step < 40 ? 3 : 5);
        for (const auto& [series, value] : page) {
            const std::string name = series.substr(0, series.find('{'));
            const bool counts = name.ends_with("_total") || name.ends_with("_bucket");
            if (counts && name.starts_with("stint_") && last.contains(series)) {
                CAPTURE(series);
                CAPTURE(step);
                CHECK(value >= last[series]);
            }
        }
        last = page;
    }
    CHECK(last.contains(R"x(stint_limit_overflow_total{limit="(other)"})x"));
}

TEST_CASE("the sum over all series is what was counted") {
    ManyNames many{50};
    for (std::size_t step = 0; step < 200; ++step)
        many.count(step % 50);

    double sum = 0;
    for (const auto& [series, value] : many.page(10))
        sum += series.starts_with("stint_requests_total{") ? value : 0;

    CHECK(sum == 200);
}

TEST_CASE("the page stays small with many names, all of them used") {
    ManyNames many{5'000};
    for (std::size_t i = 0; i < 5'000; ++i)
        many.count(i);
    for (std::size_t i = 0; i < many.sum.routes.size(); ++i)
        for (auto& by_class : many.sum.routes[i].requests)
            by_class.fill(1'000'000);

    (void)many.page(100);

    MESSAGE("bytes: " << many.text.size());
    CHECK(many.text.size() < 1'000'000);
}
