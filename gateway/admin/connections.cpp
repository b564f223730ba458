#include "admin/connections.hpp"

namespace stint::admin {

void Connections::begin(Bounded& connection, SteadyTime now) {
    connection.unlink();
    connection.since_ = now;
    list_.push_back(connection);
    if (list_.size() > most_)
        close_first();
}

void Connections::expire(SteadyTime now) {
    while (!list_.empty() && now - list_.front().since_ >= longest_)
        close_first();
}

void Connections::close_all() {
    while (!list_.empty())
        close_first();
}

void Connections::close_first() {
    Bounded& first = list_.front();
    list_.pop_front();
    first.close();
}

} // namespace stint::admin
