#include "proxy/service.hpp"

#include "proxy/exchange.hpp"

namespace stint::proxy {

server::RequestHandlerPtr Service::make_handler(server::ClientStream& stream) {
    return as_base<server::RequestHandler>(context_.exchanges.make(context_, stream));
}

} // namespace stint::proxy
