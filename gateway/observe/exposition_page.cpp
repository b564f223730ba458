#include "observe/exposition_page.hpp"

#include <prometheus/text_serializer.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace stint::observe {

void Page::Family::add(Labels labels, const Histogram& histogram) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < latency_bounds.size(); ++i) {
        count += histogram.buckets[i];
        metric.histogram.bucket.push_back({count, latency_bounds[i]});
    }
    metric.histogram.sample_count = count + histogram.buckets.back(); // includes the bucket "+Inf"
    metric.histogram.sample_sum = histogram.sum_seconds;
    add(std::move(metric));
}

std::string Page::text() const {
    return prometheus::TextSerializer{}.Serialize(families_);
}

} // namespace stint::observe
