#include "observe/metrics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <regex>
#include <sstream>

using namespace stint;
using namespace stint::observe;
using namespace std::chrono_literals;

namespace {

// Prometheus text format 0.0.4, read strictly: every sample in a family that HELP and TYPE opened,
// no family and no series twice.
struct Page {
    std::map<std::string, std::string> types;
    std::map<std::string, std::string> samples; // "name{labels}" → value, as printed

    explicit Page(const std::string& text) {
        REQUIRE(!text.empty());
        REQUIRE(text.back() == '\n');
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);)
            read(line);
    }

    [[nodiscard]] const std::string& at(const std::string& series) const {
        const auto found = samples.find(series);
        REQUIRE_MESSAGE(found != samples.end(), series);
        return found->second;
    }
    [[nodiscard]] bool has(const std::string& part) const {
        for (const auto& [series, value] : samples)
            if (series.find(part) != std::string::npos)
                return true;
        return false;
    }

  private:
    void read(const std::string& line) {
        static const std::regex help{"# HELP ([a-z0-9_]+) [^\\\\]+\\."};
        static const std::regex type{"# TYPE ([a-z0-9_]+) (counter|gauge|histogram)"};
        static const std::regex sample{
            R"rx(([a-z0-9_]+)(\{[a-z]+="([^"\\]|\\[\\"n])*"(,[a-z]+="([^"\\]|\\[\\"n])*")*\})? ([0-9.e+-]+))rx"};
        CAPTURE(line);
        std::smatch match;
        if (std::regex_match(line, match, help)) {
            family_ = match[1];
        } else if (std::regex_match(line, match, type)) {
            REQUIRE(match[1] == family_);
            REQUIRE(types.emplace(match[1], match[2]).second);
        } else {
            REQUIRE(std::regex_match(line, match, sample));
            REQUIRE(belongs(match[1]));
            REQUIRE(samples.emplace(match[1].str() + match[2].str(), match[6]).second);
        }
    }
    [[nodiscard]] bool belongs(const std::string& name) const {
        if (types.at(family_) != "histogram")
            return name == family_;
        return name == family_ + "_bucket" || name == family_ + "_sum" ||
               name == family_ + "_count";
    }

    std::string family_;
};

struct Scrape {
    WorkerCounters sum;
    MetricSlots slots;
    ProcessFigures figures;

    [[nodiscard]] Page page() const { return Page{exposition(sum, slots, figures)}; }
};

// One of everything, with names that have to be escaped where names are free.
Scrape full_scrape() {
    Scrape scrape;
    const auto route = scrape.slots.route("product");
    const auto refusal = scrape.slots.refusal("product", "per_client");
    const auto upstream = scrape.slots.upstream("shop");
    const auto wait = scrape.slots.wait("window");
    scrape.sum.fit(route + 1, refusal + 1, upstream + 1, wait + 1);
    scrape.sum.waits[wait].time.observe(30ms);
    scrape.sum.waits[wait].refused = 2;
    auto& counters = scrape.sum.routes[route];
    counters.requests[static_cast<std::size_t>(Outcome::forwarded)][2] = 12;
    counters.requests[static_cast<std::size_t>(Outcome::client_gone)][0] = 3;
    counters.in_flight = 4;
    scrape.sum.refusals[refusal] = 5;
    scrape.sum.denied[refusal] = 6;
    scrape.sum.tickets[observe::WorkerCounters::used] = 16;
    scrape.sum.exempted[refusal] = 7;
    for (const Duration latency : std::array<Duration, 4>{300us, 5ms, 7ms, 90s})
        scrape.sum.upstreams[upstream].latency.observe(latency);
    scrape.figures.version = "1.2 \"a\\b\"\n";
    scrape.figures.start_time_seconds = 1714550950.25;
    scrape.figures.access_log_dropped = 6;
    scrape.figures.in_flight = {.max = 50, .counted = 17, .refused = 18};
    scrape.figures.permits = true;
    scrape.figures.limits = {
        {.name = "window", .quota = 10, .used = 7, .waits = true, .waiting = 11},
        {.name = "slots", .quota = 30, .slots = {{12, 13, 14, 15}}},
        {.name = "per_key", .keyed = true, .quota = 20, .live_keys = 8, .table_full = 9},
    };
    return scrape;
}

} // namespace

TEST_CASE("the page follows the text format and shows what was counted") {
    const Page page = full_scrape().page();

    CHECK(
        page.at(R"(stint_requests_total{route="product",decision="forwarded",status="2xx"})") ==
        "12");
    CHECK(
        page.at(R"(stint_requests_total{route="product",decision="client_gone",status="none"})") ==
        "3");
    CHECK(page.at(R"(stint_requests_in_flight{route="product"})") == "4");
    CHECK(page.at("stint_requests_in_flight_max") == "50");
    CHECK(page.at("stint_requests_in_flight_counted") == "17");
    CHECK(page.at("stint_requests_in_flight_refused_total") == "18");
    CHECK(page.at(R"(stint_refusals_total{route="product",limit="per_client"})") == "5");
    CHECK(page.at(R"(stint_limit_denied_total{route="product",limit="per_client"})") == "6");
    CHECK(page.at(R"(stint_limit_exempted_total{route="product",limit="per_client"})") == "7");
    CHECK(page.at(R"(stint_access_log_lines_total{result="dropped"})") == "6");
    CHECK(page.at(R"(stint_permit_tickets_total{event="used"})") == "16");
    CHECK(page.at(R"(stint_permit_tickets_total{event="unknown"})") == "0");
    CHECK(page.at(R"(stint_limit_waiting{limit="window"})") == "11");
    CHECK(page.at(R"(stint_limit_wait_seconds_count{limit="window"})") == "1");
    CHECK(page.at(R"(stint_limit_refused_after_waiting_total{limit="window"})") == "2");
    CHECK(page.at(R"(stint_limit_reserved{limit="slots"})") == "12");
    CHECK(page.at(R"(stint_limit_slots_given_total{limit="slots"})") == "13");
    CHECK(page.at(R"(stint_limit_slots_claimed_total{limit="slots"})") == "14");
    CHECK(page.at(R"(stint_limit_slots_missed_total{limit="slots"})") == "15");
    CHECK_FALSE(page.has(R"(stint_limit_reserved{limit="window"})"));
    CHECK(page.at("process_start_time_seconds") == "1714550950.25");
    CHECK(page.types.at("stint_upstream_latency_seconds") == "histogram");
}

TEST_CASE("label values are escaped") {
    const Page page = full_scrape().page();

    CHECK(page.has(R"(stint_build_info{version="1.2 \"a\\b\"\n",compiler="gcc )"));
}

TEST_CASE("a histogram's buckets are cumulative and end with the count") {
    const Page page = full_scrape().page();
    const auto bucket = [&](const std::string& bound) {
        return page.at(
            "stint_upstream_latency_seconds_bucket{upstream=\"shop\",le=\"" + bound + "\"}");
    };

    CHECK(bucket("0.0005") == "1");
    CHECK(bucket("0.0025") == "1");
    CHECK(bucket("0.005") == "2");
    CHECK(bucket("0.01") == "3");
    CHECK(bucket("60") == "3");
    CHECK(bucket("+Inf") == "4");
    CHECK(page.at("stint_upstream_latency_seconds_count{upstream=\"shop\"}") == "4");
    CHECK(
        std::stod(page.at("stint_upstream_latency_seconds_sum{upstream=\"shop\"}")) ==
        doctest::Approx(90.0123));
}

TEST_CASE("counts are exact up to 2^53") {
    Scrape scrape;
    scrape.sum.connections_accepted = (std::uint64_t{1} << 53U) - 1;
    scrape.sum.connections_rejected = 100'000'000;

    const Page page = scrape.page();

    CHECK(page.at("stint_connections_accepted_total") == "9007199254740991");
    CHECK(page.at(R"(stint_connections_rejected_total{reason="max_connections"})") == "100000000");
    CHECK(page.at(R"(stint_connections_rejected_total{reason="per_client"})") == "0");
}

TEST_CASE("a route and a refusal show zeros before any worker has counted") {
    Scrape scrape;
    (void)scrape.slots.route("new");
    (void)scrape.slots.refusal("new", "limit");
    (void)scrape.slots.upstream("shop");

    const Page page = scrape.page();

    CHECK(page.at(R"(stint_requests_in_flight{route="new"})") == "0");
    CHECK(page.at(R"(stint_refusals_total{route="new",limit="limit"})") == "0");
    CHECK(page.at(R"(stint_upstream_connects_total{upstream="shop"})") == "0");
    CHECK_FALSE(page.has("stint_requests_total"));
}

TEST_CASE("an endpoint shows how it is, and the requests that its workers count themselves") {
    Scrape scrape;
    const auto upstream = scrape.slots.upstream("shop");
    scrape.sum.fit(1, 0, upstream + 1);
    scrape.sum.upstreams[upstream].in_flight = 2;
    ProcessFigures::EndpointFigures endpoint;
    endpoint.upstream = "shop";
    endpoint.endpoint = "a:1";
    endpoint.metric = upstream;
    endpoint.up = true;
    endpoint.in_flight = 1;
    endpoint.ejections = 4;
    endpoint.failures = 5;
    endpoint.checks_failed = 6;
    scrape.figures.endpoints.push_back(endpoint);

    const Page page = scrape.page();

    const std::string labels = R"({upstream="shop",endpoint="a:1"})";
    CHECK(page.at("stint_endpoint_up" + labels) == "1");
    CHECK(page.at("stint_endpoint_requests_in_flight" + labels) == "3");
    CHECK(page.at("stint_endpoint_ejections_total" + labels) == "4");
    CHECK(page.at("stint_endpoint_failures_total" + labels) == "5");
    const auto checks = [](const std::string& result) {
        return R"(stint_endpoint_health_checks_total{upstream="shop",endpoint="a:1",result=")" +
               result + "\"}";
    };
    CHECK(page.at(checks("failed")) == "6");
    CHECK(page.at(checks("passed")) == "0");
}

TEST_CASE("a keyed limit shows its keys and no use, one without a key the reverse") {
    const Page page = full_scrape().page();

    CHECK(page.at(R"(stint_limit_used{limit="window"})") == "7");
    CHECK_FALSE(page.has(R"(stint_limit_live_keys{limit="window"})"));
    CHECK(page.at(R"(stint_limit_live_keys{limit="per_key"})") == "8");
    CHECK(page.at(R"(stint_limit_table_full_total{limit="per_key"})") == "9");
    CHECK_FALSE(page.has(R"(stint_limit_used{limit="per_key"})"));
    CHECK(page.at(R"(stint_limit_quota{limit="per_key"})") == "20");
}

TEST_CASE("each certificate shows when it ends") {
    ProcessFigures figures;
    figures.certificate_reloads = 2;
    figures.certificate_reload_failures = 1;
    figures.certificates = {{"/etc/a.pem", 1'800'000'000.0}, {"/etc/b.pem", 1'900'000'000.0}};

    const Page page{exposition({}, {}, figures)};

    CHECK(page.at("stint_tls_certificate_reloads_total") == "2");
    CHECK(page.at("stint_tls_certificate_reload_failures_total") == "1");
    CHECK(
        page.at("stint_tls_certificate_expires_timestamp_seconds{file=\"/etc/a.pem\"}") ==
        "1800000000");
    CHECK(page.has("/etc/b.pem"));
}

TEST_CASE("the process says what it uses") {
    const Page page = Scrape{}.page();

    CHECK(std::stod(page.at("process_resident_memory_bytes")) > 100'000);
    CHECK(std::stod(page.at("process_open_fds")) >= 3);
    CHECK(std::stod(page.at("process_max_fds")) >= 3);
    CHECK(page.types.at("process_cpu_seconds_total") == "counter");
}

TEST_CASE("the state file's figures are there when there is one") {
    ProcessFigures figures;
    CHECK_FALSE(Page{exposition({}, {}, figures)}.has("stint_state"));

    figures.state = {7, 2, 1'800'000'000.0, 0.25};

    const Page page{exposition({}, {}, figures)};
    CHECK(page.at("stint_state_writes_total") == "7");
    CHECK(page.at("stint_state_write_failures_total") == "2");
    CHECK(page.at("stint_state_last_write_timestamp_seconds") == "1800000000");
    CHECK(page.at("stint_state_round_seconds") == "0.25");
}

TEST_CASE("a store's figures are there beside all others, however many") {
    for (const bool permits : {false, true})
        for (const bool state : {false, true}) {
            Scrape scrape;
            scrape.figures.permits = permits;
            if (state)
                scrape.figures.state = {7, 2, 1'800'000'000.0, 0.25};
            scrape.figures.stores = {
                {.name = "main",
                 .up = true,
                 .ready = true,
                 .counters = 3,
                 .round_trip_seconds = 0.5,
                 .calls = 9,
                 .failed_calls = 2,
                 .wants_told = 4,
                 .wants_failed = 5}};

            const Page page = scrape.page();

            const auto store = [&](const std::string& name, const std::string& labels = {}) {
                return page.at("stint_store_" + name + "{store=\"main\"" + labels + "}");
            };
            CHECK(store("up") == "1");
            CHECK(store("ready") == "1");
            CHECK(store("counters") == "3");
            CHECK(store("round_trip_seconds") == "0.5");
            CHECK(store("calls_total", ",result=\"ok\"") == "7");
            CHECK(store("calls_total", ",result=\"failed\"") == "2");
            CHECK(store("wants_total", ",result=\"told\"") == "4");
            CHECK(store("wants_total", ",result=\"failed\"") == "5");
        }
}
