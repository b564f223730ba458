#include "proxy/request_record.hpp"

#include <boost/algorithm/string/predicate.hpp>

namespace stint::proxy {

void RequestRecord::take(
    const RequestHead& head,
    const routing::Snapshot& snapshot,
    http::RequestIdSource& ids,
    const KeyHasher& hasher) {
    if (head.ids.contains(FieldId::x_request_id) || !snapshot.log.fields.empty())
        note_fields(head, snapshot);
    name(ids);
    if (snapshot.trusted.empty()) [[likely]]
        return;
    const IpAddress& peer = client_->address();
    peer_is_trusted_ = snapshot.trusted.contains(peer);
    if (!peer_is_trusted_)
        return;
    const IpAddress client = routing::client_behind(peer, head.fields, snapshot.trusted);
    if (client != peer)
        client_ = &client_behind_.emplace(client, hasher);
}

void RequestRecord::note_fields(const RequestHead& head, const routing::Snapshot& snapshot) {
    id_ = http::shown_request_id(head.fields);
    for (const Field& field : head.fields)
        for (const std::string& wanted : snapshot.log.fields)
            if (boost::algorithm::iequals(field.name, wanted))
                logged_.push_back({wanted, field.value});
}

void RequestRecord::name(http::RequestIdSource& ids) {
    if (!id_.empty())
        return;
    made_id_ = ids.make(arrived_.wall);
    id_ = {made_id_.data(), made_id_.size()};
}

void RequestRecord::fill(observe::AccessRecord& line) const noexcept {
    line.time = arrived_.wall;
    line.request_id = id_;
    line.client = client_->text();
    line.status = status_;
    line.outcome = outcome_;
    line.waited = waited_;
    line.upstream_time = upstream_time_;
    line.fields = logged_;
}

} // namespace stint::proxy
