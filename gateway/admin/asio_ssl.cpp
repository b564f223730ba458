// Boost.Asio's own sources for TLS, compiled once: only the admin listener uses them.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/asio/ssl/impl/src.hpp>
