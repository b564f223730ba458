// The metric families of one Prometheus scrape. Internal to the exposition*.cpp files.
#pragma once

#include "observe/metrics.hpp"

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stint::observe {

using Labels = std::vector<prometheus::ClientMetric::Label>;
using Type = prometheus::MetricType;

// Collects metric families for prometheus-cpp's serializer. Values are doubles, which hold counts
// exactly up to 2^53.
class Page {
  public:
    class Family {
      public:
        Family(std::vector<prometheus::MetricFamily>& families, std::size_t index)
            : families_{families}, index_{index} {}

        void add(Labels labels, double value) {
            prometheus::ClientMetric metric;
            metric.label = std::move(labels);
            (type() == Type::Counter ? metric.counter.value : metric.gauge.value) = value;
            add(std::move(metric));
        }
        void add(Labels labels, std::uint64_t value) {
            add(std::move(labels), static_cast<double>(value));
        }
        void add(Labels labels, const Histogram& histogram);

      private:
        [[nodiscard]] Type type() const { return families_[index_].type; }
        void add(prometheus::ClientMetric metric) {
            families_[index_].metric.push_back(std::move(metric));
        }

        // By index: the vector may move its elements when a further family is added.
        std::vector<prometheus::MetricFamily>& families_;
        std::size_t index_;
    };

    // Adds a family. The returned Family is valid as long as the page.
    Family family(std::string name, Type type, std::string help) {
        families_.push_back({std::move(name), std::move(help), type, {}});
        return Family{families_, families_.size() - 1};
    }
    Family counter(std::string name, std::string help) {
        return family(std::move(name), Type::Counter, std::move(help));
    }
    Family gauge(std::string name, std::string help) {
        return family(std::move(name), Type::Gauge, std::move(help));
    }

    [[nodiscard]] std::string text() const;

  private:
    std::vector<prometheus::MetricFamily> families_;
};

// Defined in exposition_configuration.cpp.
void add_configuration(Page& page, const ProcessFigures& figures);
// Defined in exposition_connections.cpp.
void add_connections(Page& page, const WorkerCounters& sum);
void add_in_flight(Page& page, const ProcessFigures::InFlightFigures& figures);
// Both are defined in exposition_permits.cpp.
void add_permits(
    Page& page, const WorkerCounters& sum, const MetricSlots& slots, const ProcessFigures& figures);
void add_locks(Page& page, const WorkerCounters& sum, const ProcessFigures& figures);
// Defined in exposition_endpoints.cpp.
void add_endpoints(Page& page, const WorkerCounters& sum, const ProcessFigures& figures);

} // namespace stint::observe
