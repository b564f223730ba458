// One request of a caller: who may ask, what is asked for, who answers it.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "permits/service.hpp"
#include "routing/client_address.hpp"

#include <string_view>

namespace stint::permits {

using TakingPtr = proxy::ObjectPool<Taking>::Pointer;

// Answers at once, appending the whole response to `out`; or returns the ask that has to wait for
// its turn, and whose answer is to be written after that (Taking::end_wait()). head and body need
// not stay.
[[nodiscard]] TakingPtr answer(
    Service& service,
    const RequestHead& head,
    std::string_view body,
    const routing::ClientAddress& peer,
    http::HeadBuffer& out,
    http::ReplyContext reply);

} // namespace stint::permits
