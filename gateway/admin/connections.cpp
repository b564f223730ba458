#include "admin/connections.hpp"

namespace stint::admin {

void Connections::begin(Bounded& connection, SteadyTime now) {
    connection.since_ = now;
    if (connection.is_linked())
        return;
    list_.push_back(connection);
    if (list_.size() > most_)
        close(list_.front());
}

void Connections::expire(SteadyTime now) {
    for (auto next = list_.begin(); next != list_.end();) {
        Bounded& connection = *next++;
        if (now - connection.since_ >= longest_)
            close(connection);
    }
}

void Connections::close_all() {
    while (!list_.empty())
        close(list_.front());
}

void Connections::close(Bounded& connection) {
    connection.unlink();
    connection.close();
}

} // namespace stint::admin
