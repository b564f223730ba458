// Origins: the upstreams that requests are sent to, from the configuration or made at run time.
#pragma once

#include "base/time.hpp"
#include "routing/snapshot.hpp"
#include "upstream/cluster.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stint::upstream {

// One worker's view of an upstream: the upstream's specification, and its endpoints with their
// connection pools.
class Origin : public boost::intrusive_ref_counter<Origin, boost::thread_unsafe_counter> {
  public:
    Origin(std::shared_ptr<const routing::UpstreamSpec> spec, Cluster cluster)
        : spec_{std::move(spec)}, cluster_{std::move(cluster)} {}

    [[nodiscard]] const routing::UpstreamSpec& spec() const noexcept { return *spec_; }
    [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

  private:
    const std::shared_ptr<const routing::UpstreamSpec> spec_;
    Cluster cluster_;
};
// A request holds its origin from the choice of the route to the request's end, on its worker's
// thread.
using OriginPtr = boost::intrusive_ptr<Origin>;

// Chooses the origin of a request whose upstream is not written in the configuration.
class OriginSource {
  public:
    // Returns the request's origin; null means `configured`, the origin of its route.
    [[nodiscard]] virtual OriginPtr
    origin_for(const RequestHead& head, const Origin& configured, SteadyTime now) = 0;

  protected:
    ~OriginSource() = default;
};

// All origins of one worker.
class Origins {
  public:
    // All arguments must outlive this object. parser: parses responses. head: scratch memory.
    Origins(net::BufferPool& blocks, http::HeadBuffer& head, http::HeadParser& parser)
        : buffers_{blocks, head, parser} {}
    Origins(const Origins&) = delete;
    Origins& operator=(const Origins&) = delete;

    // Returns the origins of a snapshot, with the same indices as Snapshot::upstreams.
    [[nodiscard]] std::vector<OriginPtr>
    adopt(const std::shared_ptr<const routing::Snapshot>& snapshot);
    // Sets the source that choose() asks first; null if all origins are configured. The source must
    // outlive this object.
    void set_source(OriginSource* source) noexcept { source_ = source; }
    // Chooses the origin of a request whose route goes to `configured`.
    [[nodiscard]] OriginPtr
    choose(const OriginPtr& configured, const RequestHead& head, SteadyTime now) {
        if (source_ != nullptr) [[unlikely]]
            if (OriginPtr made = source_->origin_for(head, *configured, now))
                return made;
        return configured;
    }
    [[nodiscard]] Pools& pools() noexcept { return pools_; }

  private:
    Http1Buffers buffers_;
    Pools pools_{buffers_};
    OriginSource* source_ = nullptr;
};

// Origins that are made at run time and expire. One for each worker; not thread-safe.
class DynamicOrigins {
  public:
    // idle_for: an origin that no request has used for this time is dropped with its connections.
    // most: number of origins that may exist at a time.
    DynamicOrigins(Http1Buffers& buffers, Duration idle_for, std::size_t most) noexcept
        : buffers_{buffers}, idle_for_{idle_for}, most_{most} {}

    // Returns the origin named spec.name, made of `spec` if there is none. If `most` origins exist,
    // the one unused for longest is dropped first. Returns null if requests hold all of them.
    // addresses: the Resolver's addresses of endpoints that are host names; may be null if there
    // are none.
    [[nodiscard]] OriginPtr
    get(const routing::UpstreamSpec& spec, SteadyTime now, const AddressBook* addresses = nullptr);
    // Drops origins that have expired, and closes idle connections of the others as Pool::sweep()
    // does.
    void sweep(SteadyTime now, Duration idle) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return origins_.size(); }

  private:
    struct Entry {
        OriginPtr origin;
        std::vector<std::shared_ptr<Pool>> pools;
        SteadyTime used{};
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    [[nodiscard]] Entry make(const routing::UpstreamSpec& spec, const AddressBook* addresses) const;
    bool make_room() noexcept;
    Entries::iterator drop(Entries::iterator which) noexcept;
    [[nodiscard]] static bool in_use(const Entry& entry) noexcept {
        return entry.origin->use_count() > 1;
    }

    Http1Buffers& buffers_;
    const Duration idle_for_;
    const std::size_t most_;
    Entries origins_;
};

} // namespace stint::upstream
